import { sum } from '../algorithms/statistics.ts';
import { percentText, pointsText } from '../telemetry/figures.ts';
import { tableText } from '../telemetry/terminal/table.ts';
import type { ChosenRate, Evaluation } from '../trainer/evaluate.ts';
import type { Difference, Intervals95, SuccessRate } from '../trainer/success-rate.ts';
import type { TrainingResult } from '../trainer/trainer-contracts.ts';

const points = (share: number): string => (100 * share).toFixed(1);

/** Says what stands in brackets after a rate. */
export const intervalNote =
  '[ ] 95 % interval: cluster bootstrap over tasks or families of tasks, whichever is wider; Wilson if all tasks have the same rate';

/** `41 of 260 = 15.8 % [11.8, 20.7], 3 failed (1.1 %)`, or that nothing was judged. */
export function rateText(rate: SuccessRate): string {
  const { n, successes, successRate, failed, failedShare } = rate;
  const failures = failed > 0 ? `, ${failed} failed (${percentText(failedShare ?? 0)})` : '';
  if (successRate === null) return `no attempt judged${failures}`;
  return `${successes} of ${n} = ${shareText(successRate, rate)}${failures}`;
}

/** `+12.3 [+8.1, +16.5]`, in points of a percentage. */
export const differenceText = ({ difference, interval95 }: Difference): string =>
  `${pointsText(difference)} [${[interval95?.low, interval95?.high].map((end) => pointsText(end ?? Number.NaN)).join(', ')}]`;

/** `best-of-n of 8 by log-probability`. */
export const strategyText = ({ strategy, attempts, selector }: ChosenRate): string =>
  `${strategy} of ${attempts} by ${selector}`;

/** A share and its interval: `75.0 % [50.0, 87.5]`. */
export const shareText = (share: number, intervals?: Intervals95): string => {
  const { interval95 = null } = intervals ?? {};
  const interval =
    interval95 === null ? '' : ` [${points(interval95.low)}, ${points(interval95.high)}]`;
  return `${percentText(share)}${interval}`;
};

/** Pass@k and avg@k with their intervals, by k. Nothing of tasks that were attempted once. */
export function atKTable({ passAtK, avgAtK, intervalsAtK, perTask }: Evaluation): string[] {
  const counts = Object.keys(intervalsAtK).map(Number);
  if (counts.length === 0) return [];
  const counted = perTask.filter(({ ofSlice }) => !ofSlice);
  const broken = counted.filter(({ failed }) => failed > 0).length;
  const table = tableText([
    [
      'attempts',
      'pass@k: at least one of k attempts succeeds',
      'avg@k: mean success of the first k attempts',
    ],
    ...counts.map((k) => [
      `k = ${k}`,
      shareText(passAtK[k] ?? Number.NaN, intervalsAtK[k]?.pass),
      shareText(avgAtK[k] ?? Number.NaN, intervalsAtK[k]?.avg),
    ]),
  ]);
  return [
    ...table.split('\n'),
    ...(broken === 0
      ? []
      : [
          `  pass@k and avg@k leave out ${broken} of ${counted.length} tasks, because an attempt at them failed`,
        ]),
  ];
}

/** What a success rate would be if the attempts that failed had all failed their task, and if they had all solved it. */
export const worstCaseText = ({ worstCase }: Pick<SuccessRate, 'worstCase'>): string =>
  worstCase === null ? '-' : `${points(worstCase[0])} to ${percentText(worstCase[1])}`;

type Result = Pick<TrainingResult, 'before' | 'after' | 'difference'>;

/** Of fewer tasks a rate and its interval would only look like a finding. */
export const fewestTasks = 10;

/** Before, after and the change, over all held-out tasks and by group; of very few tasks how many were solved. */
export function beforeAfterTable({ before, after, difference }: Result): string {
  const tasks = (before ?? after)?.perTask.length ?? 0;
  if (tasks < fewestTasks)
    return `  held-out success  ${solvedText(before)} before, ${solvedText(after)} after: too few tasks for rates`;
  const groups = [...new Set([before, after].flatMap((one) => Object.keys(one?.groups ?? {})))];
  const chosen = after?.chosen ?? before?.chosen;
  const line = (name: string, rates: readonly (SuccessRate | undefined)[], since?: Difference) => [
    name,
    ...rates.map((rate) => (rate === undefined ? '-' : rateText(rate))),
    ...(difference === undefined ? [] : [since === undefined ? '-' : differenceText(since)]),
  ];
  const table = tableText([
    ['held-out success', 'before', 'after', ...(difference ? ['change, points'] : [])],
    line('total (without slices)', [before, after], difference),
    ...groups
      .toSorted()
      .map((group) =>
        line(group, [before?.groups[group], after?.groups[group]], difference?.groups[group]),
      ),
    ...(chosen === undefined ? [] : [line(strategyText(chosen), [before?.chosen, after?.chosen])]),
    ...failureRows(before, after, difference ? ['-'] : []),
  ]);
  return [table, `  ${intervalNote}${difference ? '; change: paired by task' : ''}`].join('\n');
}

const solvedText = (evaluation: Pick<Evaluation, 'successes' | 'n'> | undefined): string =>
  evaluation === undefined ? '-' : `${evaluation.successes} of ${evaluation.n}`;

const failures = (evaluation: Evaluation | undefined): number => evaluation?.systemFailures ?? 0;

/** How many attempts are in no rate, and what the rate could be with them. Nothing where none failed. */
function failureRows(
  before: Evaluation | undefined,
  after: Evaluation | undefined,
  change: readonly string[],
): string[][] {
  const both = [before, after];
  if (both.every((one) => failures(one) === 0)) return [];
  return [
    ['failed episodes, not scored', ...both.map(failuresText), ...change],
    [
      'total if failed episodes count as wrong / right',
      ...both.map((one) => (one ? worstCaseText(one) : '-')),
      ...change,
    ],
  ];
}

function failuresText(evaluation: Evaluation | undefined): string {
  const attempts = sum((evaluation?.perTask ?? []).map(({ n, failed }) => n + failed));
  const count = failures(evaluation);
  return attempts === 0 ? `${count}` : `${count} of ${attempts} = ${percentText(count / attempts)}`;
}
