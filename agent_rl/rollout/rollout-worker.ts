import { AgentRlError } from '../core/errors.ts';
import type { Rollout, RolloutKey } from '../core/rollout.ts';
import { underSignals } from '../core/stopping/abort.ts';
import { LongestFirst } from './longest-first.ts';
import { type EpisodeRetries, runEpisode } from './run-episode.ts';
import type { EpisodeMaker, EpisodeRequest } from './episode-parts.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import type { Sampling } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';

export interface CollectOptions {
  signal: AbortSignal;
  /** Called with each rollout as it ends, in the order they end. */
  onRollout?: ((rollout: Rollout) => void) | undefined;
}

/** Plays episodes; results come in the order of the requests, whatever order they end in. */
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
    { signal, onRollout }: CollectOptions,
  ): Promise<Rollout[]> {
    const rollouts: Rollout[] = [];
    for (const request of requests) {
      const rollout = await runEpisode(this.make, request, signal, this.retries);
      onRollout?.(rollout);
      rollouts.push(rollout);
    }
    return rollouts;
  }
}

/**
 * Many episodes in flight: the next starts as soon as one ends, those that are likely to be long first. The rollouts are those
 * of `RolloutWorker`.
 */
export class AsyncRolloutWorker implements Rollouts {
  readonly #longestFirst = new LongestFirst();

  /** @throws AgentRlError `CONFIG_INVALID` unless `inFlight` is a positive integer. */
  constructor(
    private readonly make: EpisodeMaker,
    private readonly inFlight: number,
    private readonly retries?: EpisodeRetries,
  ) {
    if (Number.isInteger(inFlight) && inFlight > 0) return;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `There cannot be ${inFlight} episodes in flight; rollout.workers must be an integer above 0.`,
    );
  }

  async collect(
    requests: readonly EpisodeRequest[],
    { signal, onRollout }: CollectOptions,
  ): Promise<Rollout[]> {
    const rollouts: Rollout[] = [];
    const waiting = this.#longestFirst.order(requests).values();
    const failed = new AbortController();
    const lane = async (either: AbortSignal): Promise<void> => {
      try {
        // The lanes share one iterator, so each request is played once.
        for (const index of waiting) {
          const request = requests[index]!;
          const rollout = await runEpisode(this.make, request, either, this.retries);
          failed.signal.throwIfAborted();
          this.#longestFirst.note(request.task, rollout);
          onRollout?.(rollout);
          rollouts[index] = rollout;
        }
      } catch (thrown) {
        // Results that can no longer be used are not worth playing for: the other lanes end too.
        failed.abort(thrown);
      }
    };
    const lanes = Math.min(this.inFlight, requests.length);
    await underSignals([signal, failed.signal], (either) =>
      Promise.all(Array.from({ length: lanes }, () => lane(either))),
    );
    failed.signal.throwIfAborted();
    return rollouts;
  }
}

export interface GroupPlanOptions {
  groupSize: number;
  step: number;
  sampling: Sampling;
  /** Names what the groups are for, such as (seed, 'rollout', step, round): other paths, other draws. */
  seedPath: readonly (string | number)[];
  /** Of all of them. */
  key: Omit<RolloutKey, 'slot' | 'sample'>;
}

/**
 * The episodes of one collection: `groupSize` of each task. Every group has a seed of its own, so that a task that
 * comes up twice is not played the same way twice.
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
