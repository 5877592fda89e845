import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { programOutput } from './program-output.ts';

export interface PeerPython {
  /** Python 3.10 or later. Where it lacks a module it needs the venv module and a package index. */
  python: string;
  /** What the peer imports. */
  modules: readonly string[];
  /** What brings the modules, as pip reads it. */
  packages: readonly string[];
  note: (text: string) => void;
}

/** Runs with a Python that has the modules: the given one, or an environment of it that is thrown away. */
export async function withPeerPython<Result>(
  { python, modules, packages, note }: PeerPython,
  body: (python: string) => Promise<Result>,
): Promise<Result> {
  const has = spawnSync(python, ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' });
  if (has.error !== undefined) throw has.error;
  if (has.status === 0) return body(python);
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-rl-peers-'));
  try {
    note(`Installing PyTorch in ${folder}`);
    const own = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    await programOutput(python, ['-m', 'venv', folder]);
    await programOutput(own, ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', ...packages]);
    return await body(own);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
