import { mean } from '../../../algorithms/statistics.ts';
import { largest, smallest } from '../../../core/long-lists.ts';
import {
  change,
  differenceText,
  intervalNote,
  percent,
  rateText,
  worstCaseText,
} from '../../../runs/evaluation-table.ts';
import { type Difference, type SuccessRate, withUnknown } from '../../../trainer/success-rate.ts';
import { isSupervised, iterationsOf, type ReportedRun, settingOf } from '../read/reported-run.ts';
import { type Block, type Section, table, text } from '../report.ts';
import { counted } from './by-run.ts';

/** Success on held-out tasks and how it changed, in all or in one group of them. */
interface Compared {
  before?: SuccessRate | undefined;
  after?: SuccessRate | undefined;
  difference?: Difference | undefined;
}

const whole = ({ summary }: ReportedRun): Compared => {
  const { before, after, difference } = summary?.eval ?? {};
  return {
    before: before ? withUnknown(before) : undefined,
    after: after ? withUnknown(after) : undefined,
    difference: difference ?? undefined,
  };
};

const ofGroup = ({ summary }: ReportedRun, name: string): Compared => {
  const { before, after, difference } = summary?.eval ?? {};
  const [first, last] = [before?.groups?.[name], after?.groups?.[name]];
  return {
    before: first && withUnknown(first),
    after: last && withUnknown(last),
    difference: difference?.groups?.[name],
  };
};

const groupsOf = ({ summary }: ReportedRun): string[] =>
  [summary?.eval?.before, summary?.eval?.after].flatMap((one) => Object.keys(one?.groups ?? {}));

/** `23.5 % [17.5, 29.5]`, without how many of how many. */
const rateAlone = (rate: SuccessRate): string => rateText(rate).replace(/^\d+ of \d+ = /, '');

/** What came of the runs, in plain words. */
export function leadOf(runs: readonly ReportedRun[]): string[] {
  const [run] = runs;
  if (run !== undefined && runs.length === 1) return [...resultOf(run), ...endOf(run)];
  const rates = (when: 'before' | 'after') =>
    runs.flatMap((one) => whole(one)[when]?.successRate ?? []);
  const [before, after] = [rates('before'), rates('after')];
  const evaluated = runs.filter((one) => whole(one).before ?? whole(one).after);
  const left = runs.length - evaluated.length;
  const unevaluated = left === 0 ? '' : ` Runs without such an evaluation: ${left}.`;
  const parts = [
    ...(before.length > 0 ? [`${spreadText(before, percent)} before training`] : []),
    ...(after.length > 0 ? [`${spreadText(after, percent)} after it`] : []),
  ];
  const result =
    parts.length === 0
      ? 'None of these runs was evaluated on held-out tasks.'
      : `Of held-out tasks the policies of ${evaluated.length} runs solved ${parts.join(' and ')}: means, and in parentheses the lowest and the highest.${unevaluated}`;
  return [result, ...runs.flatMap((one) => endOf(one).map((end) => `${one.folder.name}: ${end}`))];
}

function resultOf(run: ReportedRun): string[] {
  if (isSupervised(run)) return lossText(run);
  const { before, after, difference } = whole(run);
  const n = after?.n ?? before?.n;
  if (n === undefined) return ['Nothing was evaluated on held-out tasks.'];
  const samples = Number(settingOf(run, 'eval.samples') ?? 1);
  const of = samples > 1 ? 'attempts at held-out tasks' : 'held-out tasks';
  const solved = [
    ...(before ? [`${rateAlone(before)} before training`] : []),
    ...(after ? [`${rateAlone(after)} after it`] : []),
  ].join(' and ');
  const changed = difference ? `, a difference of ${differenceText(difference)} points` : '';
  const over = (difference ?? after ?? before)?.interval95;
  const brackets =
    over?.method === 'cluster-bootstrap'
      ? ` In brackets: 95 % intervals by cluster bootstrap, that of ${difference ? 'the difference' : 'the rate'} over ${counted(over.clusters)} ${over.over === 'families' ? 'families of tasks' : 'tasks'}.`
      : ' In brackets: 95 % intervals.';
  return [`Of ${counted(n)} ${of}, the policy solved ${solved}${changed}.${brackets}`];
}

function lossText({ summary, metrics }: ReportedRun): string[] {
  const losses = metrics.flatMap(({ metrics: values }) => values['train/loss'] ?? []);
  const [first, last] = [losses[0], losses.at(-1)];
  if (first === undefined || last === undefined) return ['No step was recorded.'];
  const data =
    summary?.conversations === undefined
      ? ''
      : ` on ${counted(summary.conversations)} conversations of ${counted(summary.tokens ?? 0)} tokens`;
  return [
    `Supervised training${data}: the loss went from ${first.toFixed(4)} at the first step to ${last.toFixed(4)} at the last, step ${metrics.at(-1)?.iteration ?? 0}. Nothing was held out.`,
  ];
}

/** What is to be known of how it ended. */
function endOf(run: ReportedRun): string[] {
  const { summary } = run;
  const done = `${counted(iterationsOf(run))} ${isSupervised(run) ? 'steps' : 'iterations'}`;
  const control = settingOf(run, 'train.control');
  return [
    ...(summary === undefined
      ? [
          `The run has no summary.json: it is going on, failed or was killed. It has ${done} so far.`,
        ]
      : []),
    ...staleText(run),
    ...(summary?.interrupted === true ? [`The run was interrupted after ${done}.`] : []),
    ...(typeof control === 'string' && control !== 'none'
      ? [`This run is a control and must not learn (train.control: ${control}).`]
      : []),
  ];
}

/** A run that was resumed has the summary of an earlier session until it ends again. */
function staleText({ summary, metrics }: ReportedRun): string[] {
  const last = metrics.at(-1)?.iteration ?? 0;
  return summary?.iterations === undefined || last <= summary.iterations
    ? []
    : [
        `Its summary.json is of an earlier session, which ended at iteration ${summary.iterations}: it was resumed, and ${last} are recorded by now.`,
      ];
}

const spreadText = (values: readonly number[], written: (value: number) => string): string =>
  values.length === 0
    ? '-'
    : `${written(mean(values))} (${written(smallest(values))} to ${written(largest(values))})`;

/** Before, after and the difference, over all held-out tasks and by slice or group. */
export function resultSection(runs: readonly ReportedRun[]): Section[] {
  const groups = [...new Set(runs.flatMap(groupsOf))].toSorted();
  const rows = [
    ...rowsOf('All (slices left out)', runs, whole),
    ...runs.flatMap((run) => failureRows(run, runs.length > 1)),
    ...groups.flatMap((name) => rowsOf(name, runs, (run) => ofGroup(run, name))),
  ];
  if (rows.length === 0) return [];
  const several = runs.length > 1;
  const head = [
    'Held-out tasks',
    ...(several ? ['run', 'seed'] : []),
    'before',
    'after',
    'difference, points',
  ];
  const note = `${intervalNote}; differences the same, in pairs. Such an interval says how far the rate of this policy depends on which tasks were drawn, and nothing of other seeds of training.`;
  return [
    {
      title: 'Held-out success',
      blocks: [...table(head, rows), text(note), ...attemptsBlocks(runs)],
    },
  ];
}

/** What the rates could be with the attempts that the system failed, which are in none. */
function failureRows(run: ReportedRun, named: boolean): string[][] {
  const { before, after } = run.summary?.eval ?? {};
  if ([before, after].every((one) => (one?.systemFailures ?? 0) === 0)) return [];
  const which = named ? [run.folder.name, String(settingOf(run, 'run.seed'))] : [];
  const cells = [before, after].map((one) => (one ? worstCaseText(withUnknown(one)) : '-'));
  return [['All, if failed episodes had failed, or solved', ...which, ...cells, '-']];
}

function rowsOf(
  name: string,
  runs: readonly ReportedRun[],
  comparedOf: (run: ReportedRun) => Compared,
): string[][] {
  const rows = runs.flatMap((run) => {
    const { before, after, difference } = comparedOf(run);
    if (before === undefined && after === undefined) return [];
    const cells = [before, after].map((rate) => (rate === undefined ? '-' : rateText(rate)));
    const which = runs.length > 1 ? [run.folder.name, String(settingOf(run, 'run.seed'))] : [];
    return [[name, ...which, ...cells, difference ? differenceText(difference) : '-']];
  });
  if (rows.length < 2) return rows;
  const all = runs.map(comparedOf);
  const rates = (when: 'before' | 'after') => all.flatMap((one) => one[when]?.successRate ?? []);
  const differences = all.flatMap(({ difference }) => difference?.difference ?? []);
  return [
    ...rows,
    [
      name,
      'mean (range)',
      '',
      spreadText(rates('before'), percent),
      spreadText(rates('after'), percent),
      spreadText(differences, change),
    ],
  ];
}

/** Pass@k, where tasks were attempted more than once. */
function attemptsBlocks(runs: readonly ReportedRun[]): Block[] {
  const rows = runs.flatMap((run) =>
    (['before', 'after'] as const).flatMap((when) => {
      const passes = Object.entries(run.summary?.eval?.[when]?.passAtK ?? {});
      if (passes.length < 2) return [];
      const cell = passes.map(([k, share]) => `pass@${k} ${percent(share)}`).join(', ');
      return [[runs.length > 1 ? `${run.folder.name}, ${when}` : when, cell]];
    }),
  );
  return table(['Chance that one of k attempts succeeds', ''], rows);
}
