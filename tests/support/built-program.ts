import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';

/** Runs a program of `dist/`, as an installed user does. `npm test` builds it first. */
export function builtProgram(name: string, args: readonly string[], cwd: string) {
  const program = join(packageRoot(), 'dist', 'scripts', `${name}.js`);
  if (!existsSync(program)) throw new Error(`${program} is not built: run npm run build.`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, stdout, stderr };
}
