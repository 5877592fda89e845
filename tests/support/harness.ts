import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

import { harnessFolder } from '#agent_rl/sandbox/harness/read-harness.ts';

const python = (args: readonly string[], input = '') =>
  spawnSync('python3', ['-I', '-B', ...args], { encoding: 'utf8', input, timeout: 60_000 });

/** Whether `python3` is on this machine. */
export const hasPython: boolean = python(['--version']).status === 0;

/** Runs Python that can import the harness; what it prints as JSON. `given` is its variable of that name. */
export function withHarness(code: string, given: unknown = null): unknown {
  const folder = JSON.stringify(dirname(harnessFolder()));
  const before = `import json, sys\nsys.path.insert(0, ${folder})\ngiven = json.load(sys.stdin)\n`;
  const { status, stdout, stderr } = python(['-c', before + code], JSON.stringify(given));
  if (status !== 0) throw new Error(`Python ended with ${status}: ${stderr.slice(-2000)}`);
  return JSON.parse(stdout) as unknown;
}
