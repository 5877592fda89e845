import { countText, shortNumber, visibleControls } from '../../telemetry/index.ts';
import { differenceText, intervalNote, rateText } from '../../runs/evaluation-table.ts';
import { tableText } from '../../telemetry/terminal/table.ts';
import type { Decode } from '../explain/step/step-text.ts';
import type { HeldOutDifference } from './held-out-difference.ts';
import type { Parting } from './where-they-part.ts';

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

export function partingLines(parting: Parting, decode: Decode): string[] {
  const { iterations, compared, unpaired, otherProbabilities, first } = parting;
  if (compared === 0)
    return [
      iterations === 0
        ? 'Training: one of the runs recorded no episodes.'
        : `Training: the tasks differ from the first iteration on; ${countText(unpaired, 'episode')} of that iteration have no counterpart.`,
    ];
  const alone = unpaired === 0 ? '' : `; ${unpaired} have no counterpart`;
  const weights =
    otherProbabilities === undefined || otherProbabilities === first?.iteration
      ? []
      : [
          `  From iteration ${otherProbabilities} on, the two runs give different probabilities to the same tokens: by then their weights, or their ways of computing, differ.`,
        ];
  if (first === undefined)
    return [
      `Training: identical tokens in all ${countText(compared, 'episode')} of the ${countText(iterations, 'iteration')} that both runs have${alone}`,
      ...weights,
    ];
  const { iteration, episode, taskId, token, source, turn } = first;
  return [
    `The two trainings first differ in iteration ${iteration}${alone}`,
    ...weights,
    `  ${episode} of ${taskId}: token ${token}, ${source === 'sampled' ? `sampled in turn ${turn}` : `from the ${source}, after turn ${turn}`}`,
    `    both ${JSON.stringify(decode(first.before))}`,
    `    A    ${endText(first.a, decode)}`,
    `    B    ${endText(first.b, decode)}`,
  ];
}

const endText = (tokens: readonly number[], decode: Decode): string =>
  tokens.length === 0 ? 'ends here' : JSON.stringify(decode(tokens));

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
