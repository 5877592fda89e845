import { AgentRlError } from '../core/errors.ts';
import type { Rollout, RolloutKey } from '../core/rollout.ts';
import type { RolloutJournal } from '../core/services/journal.ts';
import { underSignals } from '../core/stopping/abort.ts';
import { LongestFirst } from './longest-first.ts';
import { type EpisodeRetries, runEpisode } from './run-episode.ts';
import type { EpisodeMaker, EpisodeRequest } from './episode-parts.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import type { Sampling } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';

export interface CollectOptions {
  signal: AbortSignal;
  /** Called with each rollout when it ends, in the order in which they end. */
  onRollout?: ((rollout: Rollout) => void) | undefined;
  /** Absent outside a run. */
  journal?: RolloutJournal | undefined;
}

/** Plays episodes; the results have the order of the requests. */
export interface Rollouts {
  collect(requests: readonly EpisodeRequest[], options: CollectOptions): Promise<Rollout[]>;
}

/** One episode at a time, for debugging. */
export class RolloutWorker implements Rollouts {
  constructor(
    private readonly make: EpisodeMaker,
    private readonly retries?: EpisodeRetries,
  ) {}

  async collect(
    requests: readonly EpisodeRequest[],
    { signal, onRollout, journal }: CollectOptions,
  ): Promise<Rollout[]> {
    const rollouts: Rollout[] = [];
    const options = { retries: this.retries, journal };
    for (const request of requests) {
      const rollout = await runEpisode(this.make, request, signal, options);
      onRollout?.(rollout);
      rollouts.push(rollout);
    }
    return rollouts;
  }
}

/**
 * Many episodes in flight: the next starts when one ends, likely long ones first. The rollouts equal the sequential
 * ones. Collections that are under way at the same time share the workers, and the older one comes first.
 */
export class AsyncRolloutWorker implements Rollouts {
  readonly #longestFirst = new LongestFirst();
  #playing = 0;
  readonly #waiting: { iteration: number; start: () => void }[] = [];

  /** @throws AgentRlError `CONFIG_INVALID` unless `inFlight` is a positive integer. */
  constructor(
    private readonly make: EpisodeMaker,
    private readonly inFlight: number,
    private readonly retries?: EpisodeRetries,
  ) {
    if (Number.isInteger(inFlight) && inFlight > 0) return;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `rollout.workers is ${inFlight}; it must be an integer above 0.`,
    );
  }

  async collect(
    requests: readonly EpisodeRequest[],
    { signal, onRollout, journal }: CollectOptions,
  ): Promise<Rollout[]> {
    const rollouts: Rollout[] = [];
    const options = { retries: this.retries, journal };
    const order = this.#longestFirst.order(requests);
    const failed = new AbortController();
    const play = async (index: number, either: AbortSignal): Promise<void> => {
      const request = requests[index]!;
      await this.#freeWorker(request.key.iteration);
      try {
        if (failed.signal.aborted) return;
        const rollout = await runEpisode(this.make, request, either, options);
        failed.signal.throwIfAborted();
        this.#longestFirst.note(request.task, rollout);
        onRollout?.(rollout);
        rollouts[index] = rollout;
      } catch (thrown) {
        // The results can no longer be used, so the other episodes end too.
        failed.abort(thrown);
      } finally {
        this.#pass();
      }
    };
    await underSignals([signal, failed.signal], (either) =>
      Promise.all(order.map((index) => play(index, either))),
    );
    failed.signal.throwIfAborted();
    return rollouts;
  }

  async #freeWorker(iteration: number): Promise<void> {
    if (this.#playing === this.inFlight)
      return new Promise((start) => {
        const last = this.#waiting.findLastIndex((other) => other.iteration <= iteration);
        this.#waiting.splice(last + 1, 0, { iteration, start });
      });
    this.#playing += 1;
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#playing -= 1;
    else next.start();
  }
}

export interface GroupPlanOptions {
  groupSize: number;
  step: number;
  sampling: Sampling;
  /** The key of the groups, such as (seed, 'rollout', step, round): different paths give different samples. */
  seedPath: readonly (string | number)[];
  /** Of all groups. */
  key: Omit<RolloutKey, 'slot' | 'sample'>;
}

/**
 * The episodes of one collection: `groupSize` per task. Every group has its own seed, so that a repeated task is not
 * played the same way twice.
 */
export function planGroups(
  tasks: readonly Task[],
  { groupSize, step, sampling, seedPath, key }: GroupPlanOptions,
): EpisodeRequest[][] {
  return tasks.map((task, slot) => {
    const seed = new KeyedRng(...seedPath, slot).integer(2 ** 32);
    return Array.from({ length: groupSize }, (_, sample) => ({
      task,
      key: { ...key, slot, sample },
      step,
      seed,
      sampling,
    }));
  });
}
