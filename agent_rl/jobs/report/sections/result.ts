import {
  differenceText,
  intervalNote,
  rateText,
  shareText,
  worstCaseText,
} from '../../../runs/evaluation-table.ts';
import { percentText, pointsText } from '../../../telemetry/figures.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { type Block, type Section, table, text } from '../report.ts';
import { type Compared, spreadText, whole, whyNoMean } from './compared.ts';

const ofGroup = ({ summary }: ReportedRun, name: string): Compared => ({
  before: summary?.eval?.before?.groups?.[name],
  after: summary?.eval?.after?.groups?.[name],
  difference: summary?.eval?.difference?.groups?.[name],
});

const groupsOf = ({ summary }: ReportedRun): string[] =>
  [summary?.eval?.before, summary?.eval?.after].flatMap((one) => Object.keys(one?.groups ?? {}));

/** Before, after and the difference, over all held-out tasks and by slice or group. */
export function resultSection(runs: readonly ReportedRun[]): Section[] {
  const groups = [...new Set(runs.flatMap(groupsOf))].toSorted();
  const rows = [
    ...rowsOf('All (without slices)', runs, whole),
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
  const note = `${intervalNote}; differences: paired by task. An interval shows how much the rate depends on the choice of tasks; it says nothing about other training seeds.`;
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
  const which = named ? [run.folder.name, String(run.settings.at('run.seed'))] : [];
  const cells = [before, after].map((one) => (one ? worstCaseText(one) : '-'));
  return [
    [
      'All, as a range (failed episodes counted as wrong, to counted as right)',
      ...which,
      ...cells,
      '-',
    ],
  ];
}

function rowsOf(
  name: string,
  runs: readonly ReportedRun[],
  comparedOf: (run: ReportedRun) => Compared,
): string[][] {
  const rows = runs.flatMap((run) => {
    const { before, after, difference } = comparedOf(run);
    if (!before && !after) return [];
    const cells = [before, after].map((rate) => (rate ? rateText(rate) : '-'));
    const which = runs.length > 1 ? [run.folder.name, String(run.settings.at('run.seed'))] : [];
    return [[name, ...which, ...cells, difference ? differenceText(difference) : '-']];
  });
  const compared = runs.filter((run) => {
    const { before, after } = comparedOf(run);
    return before ?? after;
  });
  if (rows.length < 2 || whyNoMean(compared) !== undefined) return rows;
  const all = runs.map(comparedOf);
  const rates = (when: 'before' | 'after') => all.flatMap((one) => one[when]?.successRate ?? []);
  const differences = all.flatMap(({ difference }) => difference?.difference ?? []);
  return [
    ...rows,
    [
      name,
      'mean (range)',
      '',
      spreadText(rates('before'), percentText),
      spreadText(rates('after'), percentText),
      spreadText(differences, pointsText),
    ],
  ];
}

/** Pass@k, where tasks were attempted more than once. */
function attemptsBlocks(runs: readonly ReportedRun[]): Block[] {
  const rows = runs.flatMap((run) =>
    (['before', 'after'] as const).flatMap((when) => {
      const { passAtK = {}, intervalsAtK = {} } = run.summary?.eval?.[when] ?? {};
      const passes = Object.entries(passAtK);
      if (passes.length < 2) return [];
      const cell = passes
        .map(([k, share]) => `pass@${k} ${shareText(share, intervalsAtK[Number(k)]?.pass)}`)
        .join(', ');
      return [[runs.length > 1 ? `${run.folder.name}, ${when}` : when, cell]];
    }),
  );
  return table(['Probability that at least one of k attempts succeeds', ''], rows);
}
