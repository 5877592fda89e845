import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';

/** What a program wrote and how it left. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Fails with what a program wrote unless it ended with this code; returns what it printed. */
export function endedWith(expected: number, { code, stdout, stderr }: Ended): string {
  expect({ code, stderr: code === expected ? '' : stderr }).toEqual({ code: expected, stderr: '' });
  return stdout;
}

export const succeeded = (ended: Ended): string => endedWith(0, ended);

/** Flags of a command line that set settings of a run. */
export const sets = (...settings: string[]): string[] => settings.flatMap((set) => ['--set', set]);

export type StartedProgram = ReturnType<typeof startProgram>;

function programFile(name: string): string {
  const program = join(packageRoot(), 'dist', 'scripts', `${name}.js`);
  if (!existsSync(program)) throw new Error(`${program} is not built: run npm run build.`);
  return program;
}

/** Runs a program of `dist/`, as an installed user does. `npm test` builds it first. */
export const builtProgram = (
  name: string,
  args: readonly string[],
  cwd: string,
  env?: NodeJS.ProcessEnv,
): Ended => nodeProgram([programFile(name), ...args], cwd, env);

/** Runs Node on a file and its arguments. */
export function nodeProgram(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
  timeout = 120_000,
): Ended {
  const options = { cwd, env, timeout, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { code: status, stdout, stderr };
}

/** Starts a program of `dist/` and leaves it running. @param options after `timeoutMs` it is ended */
export function startProgram(
  name: string,
  args: readonly string[],
  cwd: string,
  { env = process.env, timeoutMs = 120_000 } = {},
) {
  const options = { cwd, env, timeout: timeoutMs };
  const child = spawn(process.execPath, [programFile(name), ...args], options);
  const written = { stdout: '', stderr: '' };
  const look = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
      for (const one of look) one();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...written }));
  });
  /** Resolves to the match when what it wrote on either stream so far matches; rejects when it ends before. */
  const wrote = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const [found] = pattern.exec(written.stdout) ?? pattern.exec(written.stderr) ?? [];
        if (found === undefined) return;
        look.delete(check);
        resolve(found);
      };
      look.add(check);
      check();
      void ended.then(() => reject(new Error(`Ended without ${pattern}:\n${written.stderr}`)));
    });
  if (child.pid === undefined) throw new Error(`${name} has no process.`);
  return {
    pid: child.pid,
    wrote,
    /** What it wrote so far. */
    soFar: () => ({ ...written }),
    interrupt: () => void child.kill('SIGINT'),
    /** Ends it at once, with nothing put in order. */
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}
