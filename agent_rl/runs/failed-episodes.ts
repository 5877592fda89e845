import type { Trajectory } from '../core/trajectory.ts';
import { visibleControls } from '../telemetry/index.ts';

/** Reasons shown of one iteration or evaluation, and reported as they occur. */
const mostReasons = 5;
const reasonChars = 300;

/** An episode that the system failed has no reward: it says nothing about the policy. */
const isFailed = ({ reward }: Trajectory): boolean => reward === undefined;

const reasonOf = ({ outcome, problem = 'no reason was given' }: Trajectory): string => {
  const line = visibleControls(problem.split('\n', 1)[0] ?? '');
  return `${outcome}: ${line.length > reasonChars ? `${line.slice(0, reasonChars)}…` : line}`;
};

/** `3 of 64 episodes failed and have no reward`, and a line for each reason with its count; nothing where none failed. */
export function failedText(trajectories: readonly Trajectory[]): string | undefined {
  const reasons = new Map<string, number>();
  for (const reason of trajectories.filter(isFailed).map(reasonOf))
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  if (reasons.size === 0) return undefined;
  const sorted = [...reasons].toSorted(([, a], [, b]) => b - a);
  const count = sorted.reduce((sum, [, times]) => sum + times, 0);
  const others = sorted.slice(mostReasons).reduce((sum, [, times]) => sum + times, 0);
  return [
    `${count} of ${trajectories.length} episodes failed and have no reward:`,
    ...sorted.slice(0, mostReasons).map(([reason, times]) => `  ${times} x ${reason}`),
    ...(others > 0 ? [`  ${others} x other reasons`] : []),
  ].join('\n');
}

/** Reports the first episode that fails for each reason, as soon as it has failed. One that was stopped is not a failure. */
export function failureReporter(report: (text: string) => void): (trajectory: Trajectory) => void {
  const reported = new Set<string>();
  return (trajectory) => {
    if (!isFailed(trajectory) || trajectory.outcome === 'aborted') return;
    const reason = reasonOf(trajectory);
    if (reported.has(reason) || reported.size === mostReasons) return;
    reported.add(reason);
    report(
      `An episode of task ${visibleControls(trajectory.taskId)} failed and has no reward. ${reason}`,
    );
  };
}
