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
  [
    'More supervised warm-up, the same processor seconds',
    ({ moreWarmUp }) => rateText(moreWarmUp.after),
  ],
  ['Shuffled rewards', ({ shuffledRewards }) => rateText(shuffledRewards.after)],
  ['After, output of the tool blank', ({ blankOutput }) => rateText(blankOutput)],
  ['After, tool unavailable', ({ toolUnavailable }) => rateText(toolUnavailable)],
];

/** The chance that one of k attempts succeeds, for the most attempts of which there is one: powers of 2. */
function passRow(results: readonly SeedControls[]): Row {
  const k = Math.max(
    ...results.flatMap(({ passBefore }) => Object.keys(passBefore.passAtK)).map(Number),
  );
  return [`pass@${k} before, temperature 1`, ({ passBefore }) => passText(passBefore.passAtK[k])];
}

/** Answers that are those of the world it was shown. */
const followed: Row = [
  'After, lying tool: its answer is given',
  ({ lyingOutput }) => {
    const share = lyingOutput?.environment['saidOther'];
    return share === undefined ? '-' : `${percent(share)} of ${lyingOutput?.n ?? 0}`;
  },
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
      [...rows, passRow(results), followed, ...grouped, cost].map(([name, cell]) =>
        [name].concat(results.map(cell)),
      ),
    ),
    '',
    `Greedy unless stated otherwise; n = ${[...new Set(results.map(({ trained }) => trained.after.n))].join(', ')} tasks; brackets are 95 % intervals by cluster bootstrap; in runs of version 0.1, Wilson's.`,
    'Blank: programs run, the agent reads nothing. Unavailable: nothing runs, each call is answered with an error.',
    'Lying: programs run in another world of the same names.',
    'In the first two the last program it wrote is judged by the hidden tests. Without any tool in its prompt it has no way to answer.',
    '',
  ].join('\n');
}
