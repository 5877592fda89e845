import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { afterAll } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Ended } from './built-program.ts';

interface Resident {
  running: ChildProcess;
  /** Fails when the process ends. */
  gone: Promise<never>;
}

const child = fileURLToPath(new URL('../fixtures/programs/resident.mjs', import.meta.url));

/**
 * Runs command lines of a program of `dist/`, one after the other, in one process: to start one takes longer than most
 * runs of the tests. `builtProgram` is for what belongs to a process: its environment, its streams, how it ends, and
 * plugins that count from their import. The process must end by itself when nothing more is asked of it.
 */
export function residentProgram(program: 'agent-rl' | 'train-code-exec-agent') {
  let started: Promise<Resident> | undefined;
  afterAll(async () => {
    if (started === undefined) return;
    const { running } = await started;
    const ended = once(running, 'exit');
    running.disconnect();
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`The process of ${program} ended with ${code}.`);
  });
  return async (args: readonly string[], cwd: string): Promise<Ended> => {
    const { running, gone } = await (started ??= start(program));
    const answer = once(running, 'message') as Promise<[Ended]>;
    running.send({ args, cwd });
    const [ended] = await Promise.race([answer, gone]);
    return ended;
  };
}

async function start(program: string): Promise<Resident> {
  const dist = pathToFileURL(join(packageRoot(), 'dist/')).href;
  const running = spawn(process.execPath, [child, dist, program], {
    // Jest's process has an environment of its own.
    env: process.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // How Node itself says that it fails; what a command writes comes as a message.
  let log = '';
  for (const stream of [running.stdout, running.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
  const gone = once(running, 'close').then(([code, signal]): never => {
    throw new Error(`The process of ${program} ended with ${code ?? signal}:\n${log}`);
  });
  gone.catch(() => undefined);
  await Promise.race([once(running, 'message'), gone]);
  return { running, gone };
}
