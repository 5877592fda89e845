import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { readJson } from './acme-project.ts';
import { codeSpans, readDocument, tableBelow } from './markdown.ts';

/** A job that ships, as the table of docs/design/evidence.md promises it. */
export interface PromisedJob {
  name: string;
  /** Command lines, one after the other in one folder. */
  commands: readonly string[];
  /** The least share of held-out tasks solved at the end; undefined where the job has to end and nothing more. */
  least: number | undefined;
}

const heading = '## What the shipped jobs promise';

/** The lower end of a measured interval, or a bound by itself: `97.2 % [94.0, 99.5]`, `at least 90 %`. */
function leastOf(cell: string): number | undefined {
  const [, low, bound] = /\[([\d.]+), [\d.]+\]|^at least ([\d.]+) %$/.exec(cell) ?? [];
  if (low === undefined && bound === undefined && cell !== 'to the end') {
    throw new Error(`"${cell}" promises nothing: docs/design/evidence.md, ${heading}.`);
  }
  return low === undefined && bound === undefined ? undefined : Number(low ?? bound) / 100;
}

export const promisedJobs = (): PromisedJob[] =>
  tableBelow(readDocument('docs/design/evidence.md'), heading).map(([name, commands, promise]) => {
    return {
      name: codeSpans(name ?? '').join(''),
      commands: codeSpans(commands ?? ''),
      least: leastOf(promise ?? ''),
    };
  });

/** Held-out success at the end of the run in a folder's `runs` that ended last, by its `summary.json`. */
export function successOfNewestRun(folder: string): number {
  const [newest] = readdirSync(join(folder, 'runs'))
    .map((name) => join(folder, 'runs', name))
    .map((run) => ({ run, at: statSync(join(run, 'summary.json')).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  if (newest === undefined) throw new Error(`${folder}/runs holds no run that ended.`);
  const { after } = readJson(newest.run, 'summary.json')['eval'] as {
    after: { successRate: number };
  };
  return after.successRate;
}
