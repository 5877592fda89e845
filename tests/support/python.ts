import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';

const python = '/usr/bin/python3';

/** Whether the native sandbox can be tried here at all. */
export const hasNativePython: boolean = process.platform === 'linux' && existsSync(python);

/** Runs our own Python with the sandbox's modules in reach; what it prints, as JSON. */
export function evaluatePython(code: string): unknown {
  const folder = join(packageRoot(), 'agent_rl', 'sandbox');
  const paths = JSON.stringify([join(folder, 'native', 'python'), folder]);
  const program = `import sys, json\nsys.path[:0] = ${paths}\n${code}`;
  const ran = spawnSync(python, ['-s', '-S', '-B', '-c', program], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}

/** Whether this machine offers a level of the native sandbox: its supervisor is started and says so. */
export function offersLevel(level: 'ns' | 'lite'): boolean {
  if (!hasNativePython) return false;
  const main = join(packageRoot(), 'agent_rl', 'sandbox', 'native', 'python', 'main.py');
  const settings = JSON.stringify({ level, preload: [], hidden: [], base: tmpdir() });
  const ran = spawnSync(python, ['-s', '-S', '-B', main, settings], {
    encoding: 'utf8',
    input: '',
    env: {},
  });
  return ran.status === 0 && ran.stdout.includes('"level"');
}
