import type { Generation, GenerationRequest, Sampler } from '../../core/services/generator.ts';
import type { Places } from './places.ts';
import { append } from '../../core/long-lists.ts';

/** Receives the tokens of a turn so far, and whether the last of them ended it; `true` ends the turn here. */
export type Listener = (tokens: readonly number[], ended: boolean) => boolean;

/** Tokens between two looks at a turn: few, for a reader; not one, since each look is a request. */
const step = 8;

/**
 * A generator whose turns can be listened to while they are sampled. A turn is requested in steps under one key, which has
 * the tokens of one request.
 */
export class SteppedGenerator implements Sampler {
  readonly #listeners = new Map<string, Listener>();

  constructor(
    private readonly inner: Sampler,
    /** Where its turns wait for theirs. */
    private readonly places?: Places,
  ) {}

  /** Listens to the turns of an episode until it is released. */
  listen(episode: string, listener: Listener): void {
    this.#listeners.set(episode, listener);
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const work = () => this.#generate(request, signal);
    const { episode } = request;
    return this.places?.turn({ client: '', episode, signal }, work) ?? work();
  }

  async #generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const listener = this.#listeners.get(request.episode);
    if (listener === undefined) return this.inner.generate(request, signal);
    const tokens: number[] = [];
    const logProbs: number[] = [];
    for (;;) {
      const left = request.maxTokens - tokens.length;
      const part = await this.inner.generate(
        {
          ...request,
          tokens: [...request.tokens, ...tokens],
          maxTokens: Math.min(step, left),
          key: { ...request.key, drawn: tokens.length },
        },
        signal,
      );
      append(tokens, part.tokens);
      append(logProbs, part.logProbs);
      const ended = listener(tokens, part.stop === 'stop-token');
      const whole = part.stop !== 'max-tokens' || tokens.length >= request.maxTokens;
      if (ended || whole) return { ...part, tokens, logProbs };
    }
  }

  release(episode: string): void {
    this.#listeners.delete(episode);
    (this.places ?? this.inner).release(episode);
  }
}
