import { table } from '../../docs/markdown.ts';
import type { SuccessRate } from '../../../agent_rl/trainer/success-rate.ts';
import type { SeedControls } from './controls-of-seed.ts';

const percent = (share: number): string => (100 * share).toFixed(1);

/** Rates that version 0.1 recorded have Wilson's interval. */
function rateText({ successRate, interval95, wilson95 }: Partial<SuccessRate> = {}): string {
  if (typeof successRate !== 'number' || !wilson95) return '-';
  const ends = interval95 ? [interval95.low, interval95.high] : wilson95;
  return `${percent(successRate)} [${ends.map(percent).join(', ')}]`;
}

type Row = [name: string, cell: (controls: SeedControls) => string];

const rows: readonly Row[] = [
  ['Before', ({ trained }) => rateText(trained.before)],
  ['**After**', ({ trained }) => rateText(trained.after)],
  ['pass@16 before, temperature 1', ({ passBefore }) => passText(passBefore.passAtK[16])],
  [
    'More supervised warm-up, the same processor seconds',
    ({ moreWarmUp }) => rateText(moreWarmUp.after),
  ],
  ['Shuffled rewards', ({ shuffledRewards }) => rateText(shuffledRewards.after)],
  ['After, output of the tool blank', ({ blankOutput }) => rateText(blankOutput)],
  ['After, tool unavailable', ({ toolUnavailable }) => rateText(toolUnavailable)],
];

const passText = (share: number | undefined): string =>
  share === undefined ? '-' : percent(share);

/** One column per seed: rates in percent with 95 % intervals by cluster bootstrap, then cost and what the rows mean. */
export function controlsMarkdown(results: readonly SeedControls[]): string {
  const groups = [...new Set(results.flatMap(({ trained }) => Object.keys(trained.after.groups)))];
  const grouped = groups.toSorted().flatMap((group): Row[] => [
    [`Before, ${group}`, ({ trained }) => rateText(trained.before.groups[group])],
    [`After, ${group}`, ({ trained }) => rateText(trained.after.groups[group])],
    [`More warm-up, ${group}`, ({ moreWarmUp }) => rateText(moreWarmUp.after.groups[group])],
  ]);
  const cost: Row = [
    'Run: wall s / processor s',
    ({ trained }) => `${trained.wallSeconds.toFixed(0)} / ${trained.cpuSeconds.toFixed(0)}`,
  ];
  return [
    table(
      ['Held-out success, %', ...results.map(({ seed }) => `seed ${seed}`)],
      [...rows, ...grouped, cost].map(([name, cell]) => [name].concat(results.map(cell))),
    ),
    '',
    `Greedy unless stated otherwise; n = ${[...new Set(results.map(({ trained }) => trained.after.n))].join(', ')} tasks; brackets are 95 % intervals by cluster bootstrap; in runs of version 0.1, Wilson's.`,
    'Blank: programs run, the agent reads nothing. Unavailable: nothing runs, each call is answered with an error.',
    'In both the last program it wrote is judged by the hidden tests. Without any tool in its prompt it has no way to answer.',
    '',
  ].join('\n');
}
