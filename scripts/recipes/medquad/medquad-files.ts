import { existsSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { programOutput } from '../../bench/peers.ts';

/** MedQuAD as tasks and an index of its documents. */
export interface MedQuadFiles {
  data: string;
  index: string;
}

/** Prepares and indexes the documents of a folder of MedQuAD's files, unless that was done before. */
export function medQuadFiles(source: string, out: string): MedQuadFiles {
  const [data, index] = [path.join(out, 'data'), path.join(out, 'index')];
  const command = path.join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const run = (...args: string[]): string => programOutput(process.execPath, [command, ...args]);
  if (!existsSync(path.join(data, 'report.json')))
    run('prepare-data', source, '--output', data, '--overwrite');
  run('index', data, '--output', index);
  return { data, index };
}
