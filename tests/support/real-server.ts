import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ran } from './ran.ts';

/* Programs of others as their makers publish them, for `npm run test:real`. Linux only. */

export interface RealServer {
  url: string;
  /** Resolves when it answers. */
  ready: Promise<void>;
  /** Ends it and the processes that it started, at once. */
  kill(): Promise<void>;
}

/** Starts a server, which listens at this address, in a group of its own. @param log what it writes is put there */
export function startServer(url: string, { words, log, env, health = '/health' }: ServerStart) {
  const output = openSync(log, 'a');
  const [program = '', ...args] = words;
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', output, output],
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async (): Promise<void> => {
    if (child.pid === undefined || hasEnded()) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  const answers = async (): Promise<void> => {
    // vLLM compiles for its first request.
    for (let tries = 0; tries < 4800 && !hasEnded(); tries++) {
      const isUp = await fetch(url + health).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      await sleep(500);
    }
    await kill();
    throw new Error(`${program} does not start: see ${log}`);
  };
  return { url, ready: answers(), kill };
}

interface ServerStart {
  /** Program and arguments. */
  words: readonly string[];
  log: string;
  env?: NodeJS.ProcessEnv;
  /** A path that it answers once it is up. */
  health?: string;
}

/** A Python with packages of PyPI: that of an environment variable, or one of its own in the folder. */
export function pythonWith(variable: string, folder: string, packages: readonly string[]): string {
  const given = process.env[variable];
  if (given !== undefined) return given;
  const python = join(folder, 'venv', 'bin', 'python');
  ran('python3', ['-m', 'venv', join(folder, 'venv')]);
  ran(python, ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', ...packages]);
  return python;
}

/** Installs packages of PyPI by uv into a new environment of a Python. @returns the program uv */
export function installByUv(
  folder: string,
  { home, python, packages }: { home: string; python: string; packages: readonly string[] },
): string {
  const tools = join(folder, 'uv', 'bin');
  ran('python3', ['-m', 'venv', join(folder, 'uv')]);
  ran(join(tools, 'python'), ['-m', 'pip', 'install', '--quiet', 'uv']);
  const uv = join(tools, 'uv');
  ran(uv, ['venv', '--quiet', '--python', python, home]);
  ran(uv, ['pip', 'install', '--quiet', '--python', join(home, 'bin', 'python'), ...packages]);
  return uv;
}
