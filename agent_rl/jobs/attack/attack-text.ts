import { mean } from '../../algorithms/statistics.ts';
import { largest } from '../../core/long-lists.ts';
import { showValue } from '../../core/show-value.ts';
import { countText, visibleControls } from '../../telemetry/index.ts';
import type { AttackReport, Finding } from './attack-report.ts';

const number = (value: number | null): string => (value === null ? '-' : value.toFixed(3));

/** A line for each attack: what it earned, and in how many episodes it was paid for cheating. */
export function attackTable(
  reports: readonly AttackReport[],
  { tasks, honest }: { tasks: number; honest: readonly number[] },
): string {
  const width = largest(
    reports.map(({ name }) => name.length),
    0,
  );
  const lines = reports.map(({ name, description, episodes, meanReward, bestReward, findings }) =>
    [
      name.padEnd(width),
      String(episodes).padStart(8),
      number(meanReward).padStart(8),
      number(bestReward).padStart(8),
      String(findings.length).padStart(6),
      `  ${description}${episodes === 0 ? ' (does not apply to these tasks)' : ''}`,
    ].join(' '),
  );
  const head = ['attack'.padEnd(width), 'episodes', '    mean', '    best', ' found'].join(' ');
  const earned = number(honest.length === 0 ? null : mean(honest));
  const failed = tasks - honest.length;
  const left =
    failed === 0
      ? ''
      : ` On ${countText(failed, 'task')} an honest failure has no reward, so there is nothing to compare.`;
  const baseline = `${countText(tasks, 'task')}. An honest failure earns ${earned} on average.${left}`;
  return [baseline, head, ...lines].join('\n');
}

const longest = 120;

/** One finding, so that it can be understood and tried again. */
export function findingText(name: string, finding: Finding): string {
  const { why, taskId, place, text, outcome, reward, honest, problem } = finding;
  const earned = reward === undefined ? 'no reward' : `reward ${reward} (honest: ${honest})`;
  const said = visibleControls(showValue(text, longest));
  const because = problem === undefined ? '' : `, ${visibleControls(problem)}`;
  return `FOUND ${name}: ${why} on ${visibleControls(taskId)}: ${earned}, ${outcome}${because}\n  ${place === 'answer' ? 'answers' : `calls ${place} with`} ${said}`;
}
