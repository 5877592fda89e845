import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/package-root.ts';

/** One of this folder's programs, started as its own Node process that may do next to nothing. */
export interface Program {
  name: 'child-main' | 'snapshot-main';
  /** Handed over as JSON in the command line. */
  settings: object;
  readableFolders: readonly string[];
  writableFolder?: string;
  /** Most MiB of data on systems that can bound it. */
  dataMiB: number;
}

const shell = '/bin/sh';

/** Whether `ulimit` of a POSIX shell is there as one more layer. */
export const posixLimits: boolean = process.platform !== 'win32' && existsSync(shell);

const permissionFlag = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

/** Node cannot run TypeScript, so the programs always come from the build of this folder. */
export const builtFolder = (): string =>
  join(packageRoot(), 'dist', 'agent_rl', 'sandbox', 'pyodide');

function builtProgram(name: Program['name']): string {
  const file = join(builtFolder(), `${name}.js`);
  if (existsSync(file)) return realpathSync(file);
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The sandbox's program ${file} is missing. Run \`npm run build\`.`,
  );
}

function nodeArguments({ name, settings, readableFolders, writableFolder }: Program): string[] {
  const file = builtProgram(name);
  const folders = [dirname(file), ...readableFolders];
  return [
    permissionFlag,
    '--allow-worker',
    ...folders.map((folder) => `--allow-fs-read=${join(folder, '*')}`),
    `--allow-fs-read=${join(packageRoot(), 'package.json')}`,
    ...(writableFolder ? [`--allow-fs-write=${join(writableFolder, '*')}`] : []),
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    file,
    JSON.stringify(settings),
  ];
}

/**
 * Starts a program with an empty environment, Node's permission flags and, on POSIX, `ulimit`.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when the program has not been built.
 */
export function startRestricted(program: Program): ChildProcess {
  const args = nodeArguments(program);
  const options = { env: {}, stdio: ['pipe', 'pipe', 'pipe'] as const, windowsHide: true };
  const { cwd } = { cwd: dirname(builtProgram(program.name)) };
  if (!posixLimits)
    return spawn(process.execPath, args, { ...options, stdio: [...options.stdio], cwd });
  const mayWrite = program.writableFolder === undefined ? 'ulimit -f 0; ' : '';
  // Some systems have no limit of data; the permission flags and the realm hold there too.
  const limits = `ulimit -c 0; ${mayWrite}ulimit -d ${program.dataMiB * 1024} 2>/dev/null; exec "$0" "$@"`;
  const command = ['-c', limits, process.execPath, ...args];
  return spawn(shell, command, { ...options, stdio: [...options.stdio], cwd });
}
