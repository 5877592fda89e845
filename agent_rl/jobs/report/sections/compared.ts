import { isDeepStrictEqual } from 'node:util';

import { mean } from '../../../algorithms/statistics.ts';
import { largest, smallest } from '../../../core/long-lists.ts';
import type { Difference, SuccessRate } from '../../../trainer/success-rate.ts';
import { settingDifferences } from '../../../runs/flat-settings.ts';
import type { ReportedRun } from '../read/reported-run.ts';

/** Success on held-out tasks and how it changed, in all or in one group of them. */
export interface Compared {
  before?: SuccessRate | null | undefined;
  after?: SuccessRate | null | undefined;
  difference?: Difference | null | undefined;
}

/** Over all held-out tasks, slices left out. */
export const whole = ({ summary }: ReportedRun): Compared => summary?.eval ?? {};

/** The mean, and the lowest and the highest. */
export const spreadText = (
  values: readonly number[],
  written: (value: number) => string,
): string =>
  values.length === 0
    ? '-'
    : `${written(mean(values))} (${written(smallest(values))} to ${written(largest(values))})`;

const mostNamed = 3;

/** Why rates of these evaluated runs have no mean; `undefined` where they are of the same tasks and differ only in seed. */
export function whyNoMean(runs: readonly ReportedRun[]): string | undefined {
  const [first, ...others] = runs;
  if (first === undefined || others.length === 0) return undefined;
  if (runs.some(({ inputs }) => inputs === undefined))
    return 'Not all of these runs have an inputs.json, which identifies their tasks, so no mean is given.';
  const tasks = tasksOf(first);
  if (others.some((run) => !isDeepStrictEqual(tasksOf(run), tasks)))
    return 'These runs were evaluated on different tasks, so no mean is given.';
  const differing = new Set(others.flatMap((run) => differences(first, run)));
  if (differing.size === 0) return undefined;
  const named = [...differing].slice(0, mostNamed);
  const more = differing.size - named.length;
  return `These runs differ in more than their seed (${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}), so no mean is given.`;
}

/** What held-out tasks follow from besides the seed of the run, and how many attempts there were. */
function tasksOf(run: ReportedRun): unknown {
  const { sha256, generators = [] } = run.inputs ?? {};
  const { before, after } = whole(run);
  return {
    files: [sha256?.evalTasks ?? []].flat(),
    generators: generators.map(({ name, version, settings }) => ({ name, version, settings })),
    attempts: [before, after].map((rate) => rate && rate.n + (rate.failed ?? 0)),
  };
}

/** Settings that differ; the settings of `run` say where it lies and what it is called, and its seed. */
const differences = (a: ReportedRun, b: ReportedRun): string[] =>
  settingDifferences(a.config, b.config)
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('run.'));
