import { AgentRlError, messageOf } from '../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  GenerationTotals,
  Sampler,
} from '../core/services/generator.ts';
import { largest, smallest } from '../core/long-lists.ts';
import { RpcClient } from '../threads/rpc.ts';
import { moduleBeside } from '../threads/thread.ts';
import { mostAhead } from './decoding-threads.ts';
import type { DecoderMethods, DecoderOptions } from './decoder-worker.ts';
import type { SharedWeights } from './shared-weights.ts';

type DecoderThread = RpcClient<DecoderMethods>;

/** Threads that draw tokens beside the engine's own: a step blocks its thread, and two steps take two processors. */
export class DecoderThreads {
  private constructor(private readonly threads: readonly DecoderThread[]) {}

  static async open(count: number, options: DecoderOptions): Promise<DecoderThreads> {
    const opening = Array.from({ length: count }, () =>
      RpcClient.open<DecoderMethods>({
        entry: moduleBeside(import.meta.url, 'decoder-worker'),
        data: options,
        ended: (cause) =>
          new AgentRlError(
            'ENGINE_FAILED',
            `A generation thread exited (${messageOf(cause)}). If memory ran out, lower ${options.memorySettings}.`,
            { cause },
          ),
      }),
    );
    const opened = await Promise.allSettled(opening);
    const threads = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = opened.find((one) => one.status === 'rejected');
    const decoders = new DecoderThreads(threads);
    if (failed === undefined) return decoders;
    await decoders.close();
    throw failed.reason;
  }

  get samplers(): Sampler[] {
    return this.threads.map((thread) => ({
      generate: (request, signal) => thread.call('generate', [request], signal),
      release: (episode) => thread.release(episode),
    }));
  }

  /** @throws AgentRlError `GENERATION_FAILED` while tokens are drawn */
  async use(weights: SharedWeights): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.call('use', [weights])));
  }

  info(): Promise<{ totals: GenerationTotals; cacheBytes: number }[]> {
    return Promise.all(this.threads.map((thread) => thread.call('info', [])));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}

/**
 * Gives each episode to the sampler that has others of its task, with which it shares contexts, or else to the one that has
 * the fewest, and keeps it there: what it holds of its earlier turns is there.
 */
export class SpreadSampler implements Sampler {
  /** Of each sampler, the tasks of its episodes. */
  readonly #episodes: readonly Map<string, string>[];
  /** Requests that were not answered yet. */
  drawing = 0;

  /** @param rows of each sampler: more episodes would wait for one another */
  constructor(
    private readonly samplers: readonly Sampler[],
    private readonly rows = Infinity,
  ) {
    this.#episodes = samplers.map(() => new Map());
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const { episode } = request;
    const known = this.#episodes.findIndex((some) => some.has(episode));
    const { taskId } = request.key;
    const at = known >= 0 ? known : this.#placeFor(taskId);
    this.#episodes[at]!.set(episode, taskId);
    this.drawing += 1;
    try {
      return await this.samplers[at]!.generate(request, signal);
    } finally {
      this.drawing -= 1;
    }
  }

  release(episode: string): void {
    const at = this.#episodes.findIndex((some) => some.delete(episode));
    if (at >= 0) this.samplers[at]!.release(episode);
  }

  #placeFor(taskId: string): number {
    const sizes = this.#episodes.map(({ size }) => size);
    const fewest = smallest(sizes);
    const ofTask = this.#episodes.map(
      (some) => [...some.values()].filter((other) => other === taskId).length,
    );
    const most = largest(ofTask, 0);
    const near = ofTask.indexOf(most);
    const room = Math.min(this.rows, fewest + mostAhead);
    return most > 0 && sizes[near]! < room ? near : sizes.indexOf(fewest);
  }
}

/** Totals of parallel samplers: sums, and the seconds of the busiest. */
export const sideBySide = (all: readonly GenerationTotals[]): GenerationTotals =>
  all.reduce((one, other) => ({
    steps: one.steps + other.steps,
    sampledTokens: one.sampledTokens + other.sampledTokens,
    fedTokens: one.fedTokens + other.fedTokens,
    prefilledTokens: one.prefilledTokens + other.prefilledTokens,
    sharedTokens: one.sharedTokens + other.sharedTokens,
    draftedTokens: one.draftedTokens + other.draftedTokens,
    acceptedTokens: one.acceptedTokens + other.acceptedTokens,
    runS: Math.max(one.runS, other.runS),
    totalS: Math.max(one.totalS, other.totalS),
  }));
