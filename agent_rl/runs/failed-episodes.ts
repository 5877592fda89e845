import type { Rollout } from '../core/rollout.ts';
import { visibleControls } from '../telemetry/index.ts';
import { failureText } from '../trainer/collect/failure-guard.ts';

/** Reasons shown of one iteration or evaluation, and reported as they occur. */
const mostReasons = 5;
const reasonChars = 300;

/** An episode that the system failed has no reward: it says nothing about the policy. */
const isFailed = ({ parts }: Rollout): boolean => parts.some(({ reward }) => reward === undefined);

/** What was wrong with its tools themselves, one entry for each call that was answered with an error instead. */
const toolProblems = ({ parts }: Rollout): string[] =>
  parts.flatMap(({ calls }) => calls.flatMap(({ problem }) => problem ?? []));

function oneLine(text: string): string {
  const line = visibleControls(text.split('\n', 1)[0] ?? '');
  return line.length > reasonChars ? `${line.slice(0, reasonChars)}…` : line;
}

const reasonOf = (rollout: Rollout): string => oneLine(failureText(rollout));

/** `HEAD:` and a line for each reason with its count, the most frequent first; empty without any. */
function counted(head: string, reasons: readonly string[]): string[] {
  if (reasons.length === 0) return [];
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const others = sorted.slice(mostReasons).reduce((sum, [, times]) => sum + times, 0);
  return [
    `${head}:`,
    ...sorted.slice(0, mostReasons).map(([reason, times]) => `  ${times} x ${reason}`),
    ...(others > 0 ? [`  ${others} x other reasons`] : []),
  ];
}

/** Episodes without a reward and tools that failed, by reason; empty without any. */
export function failedText(rollouts: readonly Rollout[]): string | undefined {
  const failed = rollouts.filter(isFailed);
  const broken = rollouts.filter((one) => toolProblems(one).length > 0);
  const all = rollouts.length;
  const lines = [
    ...counted(
      `${failed.length} of ${all} episodes failed and have no reward`,
      failed.map(reasonOf),
    ),
    ...counted(
      `in ${broken.length} of ${all} episodes a tool failed; the model received an error message`,
      broken.flatMap(toolProblems).map(oneLine),
    ),
  ];
  return lines.length === 0 ? undefined : lines.join('\n');
}

/**
 * Reports the first episode for each reason why one fails, as soon as it has, up to a number of reasons. One that was
 * stopped is not a failure.
 */
export function failureReporter(report: (text: string) => void): (rollout: Rollout) => void {
  const reported = new Set<string>();
  const reportOnce = (reason: string, what: string): void => {
    if (reported.has(reason) || reported.size > mostReasons) return;
    reported.add(reason);
    if (reported.size <= mostReasons) report(`${what} ${reason}`);
    else report('Further failures are not logged one by one; a summary follows each iteration.');
  };
  return (rollout) => {
    const episode = `An episode of task ${visibleControls(rollout.taskId)}`;
    if (isFailed(rollout) && rollout.outcome !== 'aborted')
      reportOnce(reasonOf(rollout), `${episode} failed and has no reward.`);
    for (const problem of toolProblems(rollout))
      reportOnce(oneLine(problem), `${episode} continues after a tool failed.`);
  };
}
