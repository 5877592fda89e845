import { AgentRlError } from '../../core/errors.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { visibleControls } from '../../telemetry/visible-controls.ts';

/** @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, saying why one has none. */
export function requireRewards(trajectories: readonly Trajectory[]): void {
  if (trajectories.some(({ reward }) => reward !== undefined)) return;
  const first = trajectories.find(({ problem }) => problem !== undefined) ?? trajectories[0];
  const why =
    first === undefined
      ? 'There was no task.'
      : `The first (task ${first.taskId}) ended as ${first.outcome}: ${first.problem ?? 'its environment gave it none'}`;
  throw new AgentRlError(
    'ROLLOUTS_FAILED',
    `None of ${trajectories.length} episodes has a reward. ${visibleControls(why)}`,
  );
}
