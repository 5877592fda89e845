import { countText, shortNumber, visibleControls } from '../../telemetry/index.ts';
import { differenceText, intervalNote, rateText } from '../../runs/evaluation-table.ts';
import { tableText } from '../../telemetry/terminal/table.ts';
import type { HeldOutDifference } from './held-out-difference.ts';

export const differenceLines = (difference: HeldOutDifference): string[] => {
  const { a, b, paired, onlyA, onlyB, otherPrompt, rates, change } = difference;
  const head = a.when === 'before' ? 'Held out, before training' : 'Held out, last evaluation';
  return [
    `${head}: A ${timeText(a)}, B ${timeText(b)}, ${countText(paired, 'task')} in both`,
    ...(onlyA + onlyB + otherPrompt === 0
      ? []
      : [
          `  left out: ${countText(onlyA, 'task')} only in A, ${onlyB} only in B, ${otherPrompt} with the same id but another prompt`,
        ]),
    tableText([
      ['held-out success', 'A', 'B', 'B - A, points'],
      ...rates.map(({ name, a: one, b: other }, index) => {
        const changed = index === 0 ? change : change?.groups[name];
        const points = changed === undefined ? '-' : differenceText(changed);
        return [name, rateText(one), rateText(other), points];
      }),
    ]),
    `  ${intervalNote}; differences are computed task by task`,
  ];
};

const timeText = ({ when, iteration }: HeldOutDifference['a']): string =>
  `${when}, iteration ${iteration}`;

export const settingsLines = (changes: readonly string[]): string[] =>
  changes.length === 0
    ? ['Settings: identical']
    : ['Settings that differ, A -> B:', ...changes.map((change) => `  ${change}`)];

/** What a run took; `null` where it was not measured. */
export interface Costs {
  wallSeconds: number | null;
  cpuSeconds: number | null;
}

export const costLines = (a: Costs, b: Costs): string[] => [
  `Wall clock: A ${seconds(a.wallSeconds)}, B ${seconds(b.wallSeconds)}`,
  `Processor time: A ${seconds(a.cpuSeconds)}, B ${seconds(b.cpuSeconds)}`,
];

const seconds = (value: number | null): string =>
  value === null ? 'unknown (the run has not ended)' : `${shortNumber(value)} s`;

export const shown = (lines: readonly string[]): string => visibleControls(lines.join('\n'));
