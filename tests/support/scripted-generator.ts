import type { ActOptions } from '#agent_rl/core/plugins/policy.ts';
import {
  type Generation,
  type GenerationRequest,
  type Generator,
  type GeneratorInfo,
  greedy,
} from '#agent_rl/core/services/generator.ts';

/** What to answer to one request. A stop token at its end makes it a finished turn. */
export type Script = (request: GenerationRequest, index: number) => readonly number[];

/**
 * A generator that follows a script. It obeys the contract: it samples no more than asked for, ends at
 * the first stop token, respects the context, and gives each token a log-probability of its own.
 */
export class ScriptedGenerator implements Generator {
  readonly maxContextTokens: number;
  readonly requests: GenerationRequest[] = [];
  readonly released: string[] = [];
  readonly #version: number;

  constructor(
    private readonly script: Script,
    { maxContextTokens = 100_000, version = 3 } = {},
  ) {
    this.maxContextTokens = maxContextTokens;
    this.#version = version;
  }

  async describe(): Promise<GeneratorInfo> {
    const { maxContextTokens } = this;
    return { name: 'scripted', maxContextTokens, reproducible: true, takes: [] };
  }

  async close(): Promise<void> {}

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const script = this.script(request, this.requests.push(request) - 1);
    const room = this.maxContextTokens - request.tokens.length;
    const end = script.findIndex((token) => request.stopTokens.includes(token));
    const whole = end < 0 ? script : script.slice(0, end + 1);
    const most = signal?.aborted === true ? 0 : Math.max(0, Math.min(request.maxTokens, room));
    const tokens = whole.slice(0, most);
    const logProbs = tokens.map((_, i) => -(request.tokens.length + i + 1) / 1000);
    const stop = signal?.aborted === true ? 'aborted' : stopOf(request, tokens);
    return { tokens, logProbs, stop, version: this.#version };
  }

  release(episode: string): void {
    this.released.push(episode);
  }
}

function stopOf({ stopTokens, maxTokens }: GenerationRequest, tokens: readonly number[]) {
  const last = tokens.at(-1);
  if (last !== undefined && stopTokens.includes(last)) return 'stop-token';
  return tokens.length < maxTokens ? 'context-full' : 'max-tokens';
}

/** What a policy receives where it acts in the first turn of an episode. */
export const actOptions = (changed: Partial<ActOptions> = {}): ActOptions => ({
  episode: 'e',
  sampling: greedy,
  maxTokens: 100,
  key: { seed: 1, taskId: 't', sample: 0, turn: 0 },
  signal: new AbortController().signal,
  ...changed,
});
