import { spawnSync } from 'node:child_process';

import { AgentRlError } from '../../core/errors.ts';

/** Looks for the package without importing it, which takes seconds. */
const look = 'import importlib.util as u; print("found" if u.find_spec("wandb") else "missing")';

/** Throws unless this Python starts and has W&B's SDK. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
export function requireWandb(python: string, env: NodeJS.ProcessEnv): void {
  const { error, stdout, stderr } = spawnSync(python, ['-B', '-c', look], {
    env,
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (error === undefined && stdout.trim() === 'found') return;
  const [last = ''] = stderr?.trim().split('\n').slice(-1) ?? [];
  const problem =
    error === undefined
      ? stdout.trim() === 'missing'
        ? `${python} does not have the package wandb`
        : `Could not use ${python} as a Python interpreter: ${last}`
      : `${python} does not start: ${error.message}`;
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The tracker wandb runs W&B's SDK in Python, but ${problem}. Install wandb (${python} -m pip install wandb), or set python in the tracker's settings to a Python that has it.`,
  );
}
