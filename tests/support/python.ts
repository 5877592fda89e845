import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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

/** Whether this machine offers a level of the native sandbox, as `offered-levels-setup.mjs` found out. */
export const offersLevel = (level: 'ns' | 'lite'): boolean =>
  (process.env['AGENT_RL_OFFERED_LEVELS'] ?? '').split(',').includes(level);
