import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { inTemporaryFolder } from '../temporary-folder.ts';
import { note } from './bench-run.ts';

/** Standard output of a program; its standard error is passed on. */
export function programOutput(command: string, args: readonly string[]): string {
  const { error, status, signal, stdout } = spawnSync(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.slice(0, 3).join(' ')} ended with ${status ?? signal}.`);
}

export interface PeerNeeds {
  /** What the peer imports. */
  modules: readonly string[];
  /** What brings the modules, as pip reads it. */
  packages: readonly string[];
}

/**
 * Runs with a Python that has the modules: the given one, or an environment of it that is thrown away.
 *
 * @param python 3.10 or later. Where it lacks a module it needs the venv module and a package index.
 */
export async function withPeerPython<Result>(
  python: string,
  { modules, packages }: PeerNeeds,
  body: (python: string) => Promise<Result>,
): Promise<Result> {
  const has = spawnSync(python, ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' });
  if (has.error !== undefined) throw has.error;
  if (has.status === 0) return body(python);
  return inTemporaryFolder('agent-rl-peers', async (folder) => {
    note(`Installing ${packages.at(-1)} and its dependencies in ${folder}`);
    const own = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    programOutput(python, ['-m', 'venv', folder]);
    programOutput(own, ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', ...packages]);
    return body(own);
  });
}

/** What a script of `scripts/bench/peers` answers to an order: the last line that it prints, as JSON. */
export function peerAnswer(python: string, script: string, order: object): unknown {
  const file = path.join(packageRoot(), 'scripts', 'bench', 'peers', script);
  const text = programOutput(python, ['-W', 'ignore', file, JSON.stringify(order)]);
  return JSON.parse(text.trim().split('\n').at(-1)!);
}
