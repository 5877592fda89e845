import type { ReportedRun } from '../read/reported-run.ts';
import { type Block, table } from '../report.ts';

export type Fact = readonly [name: string, value: string | undefined];

/** What is known of runs: a row for each fact, a column for each run. */
export function byRun(
  runs: readonly ReportedRun[],
  what: string,
  factsOf: (run: ReportedRun) => readonly Fact[],
): Block[] {
  const columns = runs.map(
    (run) => new Map(factsOf(run).filter(([, value]) => value !== undefined)),
  );
  const names = [...new Set(columns.flatMap((facts) => [...facts.keys()]))];
  const head = runs.length === 1 ? [what, ''] : [what, ...runs.map(({ folder }) => folder.name)];
  return table(
    head,
    names.map((name) => [name].concat(columns.map((facts) => facts.get(name) ?? '-'))),
  );
}

export const counted = (value: number): string => value.toLocaleString('en');

export const seconds = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' ? `${value.toFixed(value < 10 ? 1 : 0)} s` : undefined;
