import { wilson95 } from '../../algorithms/statistics.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Part, Rollout } from '../../core/rollout.ts';
import { visibleControls } from '../../telemetry/visible-controls.ts';
import type { RolloutOptions } from '../training-options.ts';

/** Episodes of one iteration, and how many of them failed. */
export interface FailureCount {
  episodes: number;
  failed: number;
}

/** The number of iterations over which the share of failures is measured. */
export const iterationsLookedAt = 10;

/** Whether it, or one of its tools, failed because of the system: the episode then says little about the policy. */
const isBad = ({ reward, calls }: Part): boolean =>
  reward === undefined || calls.some(({ problem }) => problem !== undefined);

const hasFailure = ({ parts }: Rollout): boolean => parts.some(isBad);

export const countFailures = (rollouts: readonly Rollout[]): FailureCount => ({
  episodes: rollouts.length,
  failed: rollouts.filter(hasFailure).length,
});

/** The reason and the cause of an episode's failure, or of its tool's. */
export function failureText({ parts, problem, failure, ...rollout }: Rollout): string {
  const { outcome, calls, unjudged } = parts.find(isBad) ?? {
    outcome: rollout.outcome,
    calls: [],
    unjudged: undefined,
  };
  const { owner } = failure ?? unjudged?.failure ?? {};
  const whose = owner === undefined ? '' : ` (${owner})`;
  const ofCall = calls.find((call) => call.problem !== undefined)?.problem;
  const why = problem ?? unjudged?.problem ?? ofCall ?? 'its environment returned no reward';
  return `${outcome}${whose}: ${visibleControls(why)}`;
}

const failed = (text: string): AgentRlError => new AgentRlError('ROLLOUTS_FAILED', text);

/** Stops a run with too many failed episodes: the remaining ones are a biased sample. */
export class FailureGuard {
  #inARow = 0;

  constructor(
    private readonly limits: Pick<RolloutOptions['failures'], 'maxShare' | 'maxInARow'>,
  ) {}

  /**
   * To be called as rollouts end.
   *
   * @throws AgentRlError `ROLLOUTS_FAILED` after too many failures in a row
   */
  note(rollout: Rollout): void {
    // A cancelled episode does not count.
    if (rollout.parts.some(({ outcome }) => outcome === 'aborted')) return;
    this.#inARow = hasFailure(rollout) ? this.#inARow + 1 : 0;
    if (this.#inARow === 0 || this.#inARow < this.limits.maxInARow) return;
    throw failed(
      `${this.#inARow} consecutive episodes failed (rollout.failures.maxInARow). The last (task ${rollout.taskId}) ended as ${failureText(rollout)}`,
    );
  }

  /**
   * @param rollouts of an iteration or an evaluation
   * @param before the counts of earlier iterations that are included
   * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too large a share failed
   */
  check(rollouts: readonly Rollout[], before: readonly FailureCount[] = []): void {
    const bad = rollouts.find(hasFailure);
    const example =
      bad === undefined ? '' : ` The first (task ${bad.taskId}) ended as ${failureText(bad)}`;
    if (rollouts.every(({ parts }) => parts.every(({ reward }) => reward === undefined)))
      throw failed(
        rollouts.length === 0
          ? 'The run has no task.'
          : `All ${rollouts.length} episodes ended without a reward.${example}`,
      );
    if (bad === undefined) return;
    const counts = [...before, countFailures(rollouts)];
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
