import { sum } from '../../../algorithms/statistics.ts';
import { percentText } from '../../../telemetry/index.ts';
import { useMeanings } from '../../../runs/query/use-meanings.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import type { Section } from '../report.ts';
import { byRun, counted, type Fact } from './by-run.ts';

/** How episodes ended, what became of sampled tokens, and what environments counted. */
export function countsSection(runs: readonly ReportedRun[]): Section[] {
  const blocks = [
    ...byRun(runs, 'Training episodes', ({ summary }) => sharesOf(summary?.outcomes)),
    ...byRun(runs, 'Sampled tokens in the ledger', ({ summary }) => {
      // Beside several runs there is no room for the meaning.
      const meanings: Readonly<Record<string, string>> = runs.length === 1 ? useMeanings : {};
      return sharesOf(summary?.ledger, meanings);
    }),
    ...byRun(
      runs,
      'Numbers that the environment reports, averaged over attempts',
      environmentCounts,
    ),
  ];
  return blocks.length === 0 ? [] : [{ title: 'Outcomes and tokens', blocks }];
}

function sharesOf(
  counts: Readonly<Record<string, number | undefined>> = {},
  meanings: Readonly<Record<string, string>> = {},
): Fact[] {
  const known = Object.entries(counts).map(([name, count = 0]) => [name, count] as const);
  const total = sum(known.map(([, count]) => count));
  return known
    .filter(([, count]) => count > 0)
    .map(([name, count]) => {
      const meaning = meanings[name] === undefined ? '' : `: ${meanings[name]}`;
      return [name, `${counted(count)} = ${percentText(count / total)}${meaning}`];
    });
}

function environmentCounts({ summary }: ReportedRun): Fact[] {
  const { before, after } = summary?.eval ?? {};
  const names = [before, after].flatMap((one) => Object.keys(one?.environment ?? {}));
  return [...new Set(names)].map((name) => {
    const [first, last] = [before, after].map((one) => one?.environment?.[name]);
    return [name, `${numberText(first)} before, ${numberText(last)} after`];
  });
}

const numberText = (value: number | undefined): string =>
  value === undefined ? '-' : String(Number(value.toFixed(3)));
