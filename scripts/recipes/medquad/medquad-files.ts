import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { parseAndRun } from '../../../agent_rl/cli/parse-and-run.ts';
import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { jobs } from '../../../agent_rl/jobs/jobs.ts';

/** MedQuAD as tasks and an index of its documents. */
export interface MedQuadFiles {
  data: string;
  index: string;
}

/**
 * Prepares and indexes the documents of a folder of MedQuAD's files, unless that was done before.
 *
 * @throws AgentRlError `CONFIG_INVALID` where `out` holds what was made of another folder, and as `agent-rl data prepare` and
 *   `agent-rl data index` do
 */
export async function medQuadFiles(
  source: string,
  out: string,
  signal: AbortSignal,
): Promise<MedQuadFiles> {
  const [data, index] = [path.join(out, 'data'), path.join(out, 'index')];
  const run = (...args: string[]): Promise<number> =>
    parseAndRun(args, {
      programName: 'agent-rl',
      jobs,
      io: { stdout: process.stderr, stderr: process.stderr, signal },
    });
  const folder = path.resolve(source);
  const report = path.join(data, 'report.json');
  if (existsSync(report)) rejectOther(report, folder);
  else await run('data', 'prepare', folder, '--output', data, '--overwrite');
  await run('data', 'index', data, '--output', index);
  return { data, index };
}

function rejectOther(report: string, folder: string): void {
  const { source } = JSON.parse(readFileSync(report, 'utf8')) as { source: string };
  if (source === folder) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--medquad is ${folder}, but ${path.dirname(report)} was made from ${source}. Set --medquad to that folder, or --out to another folder.`,
  );
}
