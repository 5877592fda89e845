import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { readJson } from './acme-project.ts';
import { codeSpans, readDocument, tableBelow } from './markdown.ts';

export type PromisedJob = ReturnType<typeof promisedJobs>[number];

const heading = '## What the shipped jobs promise';

/** The lower end of a measured interval, or a bound by itself: `97.2 % [94.0, 99.5]`, `at least 90 %`. */
function leastOf(cell: string): number | undefined {
  const [, low, least = low] = /\[([\d.]+), [\d.]+\]|^at least ([\d.]+) %$/.exec(cell) ?? [];
  if (least !== undefined) return Number(least) / 100;
  if (cell === 'to the end') return undefined;
  throw new Error(`"${cell}" promises nothing: docs/design/evidence.md, ${heading}.`);
}

/**
 * The jobs that ship, as the table of docs/design/evidence.md promises them: command lines that are run one after the other in one
 * folder, and the least share of held-out tasks solved at the end, undefined where the job has to end and nothing more.
 */
export const promisedJobs = () =>
  tableBelow(readDocument('docs/design/evidence.md'), heading).map(
    ([name = '', commands = '', promise = '']) => ({
      name: codeSpans(name).join(''),
      commands: codeSpans(commands),
      least: leastOf(promise),
    }),
  );

/** Held-out success at the end of the run in a folder's `runs` that ended last, by its `summary.json`. */
export function successOfNewestRun(folder: string): number {
  const [newest] = readdirSync(join(folder, 'runs'))
    .map((name) => join(folder, 'runs', name))
    .map((run) => ({ run, at: statSync(join(run, 'summary.json')).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  if (newest === undefined) throw new Error(`${folder}/runs holds no run that ended.`);
  const { after } = readJson(newest.run, 'summary.json')['eval'] as Record<string, object>;
  return (after as { successRate: number }).successRate;
}
