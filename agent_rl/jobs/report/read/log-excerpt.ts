import { existsSync } from 'node:fs';

import { fileLines } from '../../../core/wire/file-lines.ts';

/** What a report takes from `run.log`. */
export interface LogExcerpt {
  /** Times of the first and the last entry, as they are written there. */
  began: string | undefined;
  ended: string | undefined;
  /** The newest warnings and errors, each with the lines that belong to it. */
  problems: readonly string[];
  /** How many older ones there are. */
  older: number;
}

const mostProblems = 20;
const entry = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\w+) (.*)$/;

/** Reads a log of any size, holding the newest problems alone. A file that does not exist has none. */
export async function readLogExcerpt(file: string): Promise<LogExcerpt> {
  const times: string[] = [];
  const problems: string[] = [];
  let [older, isProblem] = [0, false];
  for await (const { bytes } of existsSync(file) ? fileLines(file) : []) {
    const line = bytes.toString();
    const [, time, level = '', message = ''] = entry.exec(line) ?? [];
    if (time === undefined) {
      // A message of several lines goes on.
      if (isProblem) problems.push(`${problems.pop() ?? ''}\n${line}`);
      continue;
    }
    times.splice(1, 1, time);
    isProblem = level === 'warn' || level === 'error';
    if (!isProblem) continue;
    problems.push(`${level}: ${message}`);
    if (problems.length > mostProblems) {
      problems.shift();
      older += 1;
    }
  }
  return { began: times[0], ended: times.at(-1), problems, older };
}
