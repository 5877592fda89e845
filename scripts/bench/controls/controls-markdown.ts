import type {
  Comparison,
  Difference,
  SuccessRate,
} from '../../../agent_rl/trainer/success-rate.ts';
import { table } from '../../docs/markdown.ts';
import type { SeedControls } from './controls-of-seed.ts';
import { overlapMarkdown } from './overlap-markdown.ts';
import type { ControlName } from './parts.ts';

const percent = (share: number): string => (100 * share).toFixed(1);

const rateText = (rate: SuccessRate | undefined): string =>
  rate?.successRate == null || rate.interval95 === null
    ? '-'
    : `${percent(rate.successRate)} [${percent(rate.interval95.low)}, ${percent(rate.interval95.high)}] of ${rate.n}`;

const signed = (share: number): string => `${share > 0 ? '+' : ''}${percent(share)}`;

const differenceText = (difference: Difference | undefined): string =>
  difference?.interval95 == null
    ? '-'
    : `${signed(difference.difference)} [${signed(difference.interval95.low)}, ${signed(difference.interval95.high)}]`;

/** What each control is called in a table. */
const titles: Readonly<Record<ControlName, string>> = {
  before: 'Before',
  after: '**After**',
  'pass-before': 'Before, attempts at temperature 1',
  'more-warm-up': 'More of the same warm-up',
  'right-demonstrations': 'Right demonstrations',
  'rejection-sampling': 'Rejection sampling',
  'rl-from-right-demonstrations': 'RL from the right demonstrations',
  'shuffled-rewards': 'Shuffled rewards',
  'blank-output': 'After, output of the tool blank',
  'tool-unavailable': 'After, tool unavailable',
  'lying-output': 'After, lying tool, right',
  'table-without-model': 'Table without a model',
};

const names = Object.keys(titles) as ControlName[];

/** One column per seed for each slice, then how the run compares, cost, overlap and what the rows mean. */
export function controlsMarkdown(results: readonly SeedControls[]): string {
  const slices = [
    undefined,
    ...new Set(
      results
        .flatMap(({ controls }) => names.map((name) => controls[name]))
        .flatMap((control) => Object.keys(control?.after.groups ?? {}))
        .toSorted(),
    ),
  ];
  const seeds = results.map(({ seed }) => `seed ${seed}`);
  return [
    ...slices.flatMap((slice) => sliceTables(results, slice, seeds)),
    table(['Processor seconds', ...seeds], costRows(results)),
    '',
    ...results
      .slice(0, 1)
      .flatMap(({ overlap }) => (overlap ? [overlapMarkdown(overlap), ''] : [])),
    ...legend,
    '',
  ].join('\n');
}

const sliceTables = (
  results: readonly SeedControls[],
  slice: string | undefined,
  seeds: readonly string[],
): string[] => [
  table([`Success, %: ${slice ?? 'headline'}`, ...seeds], rateRows(results, slice)),
  '',
  ...differenceTable(results, slice, seeds),
];

function rateRows(results: readonly SeedControls[], slice: string | undefined): string[][] {
  const of =
    (name: ControlName) =>
    ({ controls }: SeedControls) => {
      const after = controls[name]?.after;
      return slice === undefined ? after : after?.groups[slice];
    };
  const passes = slice === undefined ? passRows(results) : [];
  const rows = names
    .filter((name) => name !== 'pass-before' && results.some(({ controls }) => name in controls))
    .map((name) => [titles[name]].concat(results.map((one) => rateText(of(name)(one)))));
  const followed = results.some(({ controls }) => controls['lying-output'])
    ? [['After, lying tool, its answer given', ...results.map((one) => followedText(one, slice))]]
    : [];
  return [...rows, ...followed, ...passes];
}

/** The chance that one of k attempts succeeds, for each k that was counted: powers of 2. */
function passRows(results: readonly SeedControls[]): string[][] {
  const rates = results.map(({ controls }) => {
    return controls['pass-before']?.after.passAtK ?? {};
  });
  const counted = [...new Set(rates.flatMap((rate) => Object.keys(rate)).map(Number))];
  return counted
    .toSorted((a, b) => a - b)
    .map((k) =>
      [`pass@${k} before, temperature 1`].concat(
        rates.map((rate) => (rate[k] === undefined ? '-' : percent(rate[k]))),
      ),
    );
}

/** How often what is said is the answer of the world that was shown. */
function followedText({ controls }: SeedControls, slice: string | undefined): string {
  const after = controls['lying-output']?.after;
  if (!after) return '-';
  const counted = slice === undefined ? after.environment : after.environmentByGroup?.[slice];
  const n = slice === undefined ? after.n : after.groups[slice]?.n;
  const share = counted?.['saidOther'];
  return share === undefined || n === undefined ? '-' : `${percent(share)} of ${n}`;
}

function differenceTable(
  results: readonly SeedControls[],
  slice: string | undefined,
  seeds: readonly string[],
): string[] {
  const of = (comparison: Comparison | undefined) =>
    slice === undefined ? comparison : comparison?.groups[slice];
  const compared = names.filter((name) => results.some(({ differences }) => differences[name]));
  if (compared.length === 0) return [];
  const rows = compared.map((name) =>
    [titles[name]].concat(results.map(({ differences }) => differenceText(of(differences[name])))),
  );
  return [table([`After less, points: ${slice ?? 'headline'}`, ...seeds], rows), ''];
}

const secondsText = (seconds: number | undefined): string => seconds?.toFixed(0) ?? '-';

function costRows(results: readonly SeedControls[]): string[][] {
  const trained = names.filter((name) =>
    results.some(({ controls }) => controls[name]?.cpuSeconds !== undefined),
  );
  return [
    [
      'The run, its evaluations included',
      ...results.map((one) => secondsText(one.trained?.cpuSeconds)),
    ],
    ...trained.map((name) =>
      [titles[name]].concat(results.map(({ controls }) => secondsText(controls[name]?.cpuSeconds))),
    ),
  ];
}

const legend = [
  'Greedy unless stated otherwise; brackets are 95 % intervals by cluster bootstrap, of differences over the same tasks.',
  'More of the same warm-up, right demonstrations and rejection sampling take the processor seconds of the run, its evaluations included, for training alone.',
  "Right demonstrations: the teacher's without slips, on fresh questions of the warm-up's kinds and names. RL from them takes its seconds beside theirs.",
  'Blank: programs run, the agent reads nothing. Unavailable: nothing runs, each call is answered with an error. Lying: programs run in another world of the same names.',
  'Table: for each family of tasks the constant answer that earned most in training. Where evaluation and training share no answers it cannot be right.',
];
