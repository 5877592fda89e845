import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/package-root.ts';

/** A program of this sandbox, started as its own Node process that may do next to nothing. */
export interface Program {
  /** Its place in `pyodide`. */
  path: 'child/child-main' | 'boot/snapshot-main';
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

/** Node cannot run TypeScript, so the programs always come from the build of `agent_rl/sandbox`. */
export const builtFolder = (): string => join(packageRoot(), 'dist', 'agent_rl', 'sandbox');

/** Where the program lies, and the folder of all it imports. */
function builtProgram(path: Program['path']): { file: string; folder: string } {
  const folder = join(builtFolder(), 'pyodide');
  const file = join(folder, `${path}.js`);
  if (existsSync(file)) return { file: realpathSync(file), folder: realpathSync(folder) };
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The sandbox's program ${file} is missing. Run \`npm run build\`.`,
  );
}

function nodeArguments({ path, settings, readableFolders, writableFolder }: Program): string[] {
  const { file, folder } = builtProgram(path);
  const folders = [folder, ...readableFolders];
  return [
    permissionFlag,
    '--allow-worker',
    ...folders.map((readable) => `--allow-fs-read=${join(readable, '*')}`),
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
  const cwd = builtProgram(program.path).folder;
  const options = { env: {}, stdio: 'pipe', windowsHide: true, cwd } as const;
  if (!posixLimits) return spawn(process.execPath, args, options);
  const mayWrite = program.writableFolder === undefined ? 'ulimit -f 0; ' : '';
  // Some systems have no limit of data; the permission flags and the realm hold there too.
  const limits = `ulimit -c 0; ${mayWrite}ulimit -d ${program.dataMiB * 1024} 2>/dev/null; exec "$0" "$@"`;
  return spawn(shell, ['-c', limits, process.execPath, ...args], options);
}
