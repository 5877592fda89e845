import { wilson95 } from '../../algorithms/statistics.ts';
import { AgentRlError } from '../../core/errors.ts';
import { episodesOf, type Trajectory } from '../../core/trajectory.ts';
import { visibleControls } from '../../telemetry/visible-controls.ts';
import type { RolloutOptions } from '../training-options.ts';

/** Episodes of one iteration, and how many of them failed. */
export interface FailureCount {
  episodes: number;
  failed: number;
}

/** How many iterations the share of failures is looked at over. */
export const iterationsLookedAt = 10;

/** Whether the system failed it, or one of its tools: what it did then says little about the policy. */
const hasFailure = ({ reward, calls }: Trajectory): boolean =>
  reward === undefined || calls.some(({ problem }) => problem !== undefined);

export function countFailures(trajectories: readonly Trajectory[]): FailureCount {
  const episodes = episodesOf(trajectories);
  const failed = episodes.filter((episode) => episode.some(hasFailure));
  return { episodes: episodes.length, failed: failed.length };
}

/** Why an episode failed and whose failure it was, or else what was wrong with a tool of it. */
export function failureText({ outcome, problem, calls, failure }: Trajectory): string {
  const ofCall = calls.find((call) => call.problem !== undefined)?.problem;
  const whose = failure === undefined ? '' : ` (${failure.owner})`;
  const why = problem ?? ofCall ?? 'its environment gave it no reward';
  return `${outcome}${whose}: ${visibleControls(why)}`;
}

const failed = (text: string): AgentRlError => new AgentRlError('ROLLOUTS_FAILED', text);

/**
 * Stops a run whose episodes fail: what is left of them is a choice by luck of the machine, and so is what it learns.
 */
export class FailureGuard {
  #inARow = 0;

  constructor(
    private readonly limits: Pick<RolloutOptions['failures'], 'maxShare' | 'maxInARow'>,
  ) {}

  /**
   * To be called as episodes end, with the trajectories of the agents of one.
   *
   * @throws AgentRlError `ROLLOUTS_FAILED` after too many failures in a row
   */
  note(episode: readonly Trajectory[]): void {
    // One that was cancelled says nothing about the next.
    if (episode.some(({ outcome }) => outcome === 'aborted')) return;
    const bad = episode.find(hasFailure);
    this.#inARow = bad === undefined ? 0 : this.#inARow + 1;
    if (bad === undefined || this.#inARow < this.limits.maxInARow) return;
    throw failed(
      `${this.#inARow} episodes in a row failed (rollout.failures.maxInARow). The last (task ${bad.taskId}) ended as ${failureText(bad)}`,
    );
  }

  /**
   * @param trajectories of an iteration or an evaluation
   * @param before the counts of the iterations before, as far as they are looked at
   * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too large a share failed
   */
  check(trajectories: readonly Trajectory[], before: readonly FailureCount[] = []): void {
    const bad = trajectories.find(hasFailure);
    const example =
      bad === undefined ? '' : ` The first (task ${bad.taskId}) ended as ${failureText(bad)}`;
    if (!trajectories.some(({ reward }) => reward !== undefined))
      throw failed(
        trajectories.length === 0
          ? 'There was no task.'
          : `None of ${episodesOf(trajectories).length} episodes has a reward.${example}`,
      );
    if (bad === undefined) return;
    const counts = [...before, countFailures(trajectories)];
    const episodes = counts.reduce((all, one) => all + one.episodes, 0);
    const failures = counts.reduce((all, one) => all + one.failed, 0);
    const { maxShare } = this.limits;
    if (wilson95(failures, episodes)[0] <= maxShare) return;
    const over = counts.length === 1 ? '' : ` of the last ${counts.length} iterations`;
    throw failed(
      `${failures} of ${episodes} episodes${over} failed, more than rollout.failures.maxShare = ${maxShare} allows.${example}`,
    );
  }
}
