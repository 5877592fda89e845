import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { AgentRlError } from '../../core/errors.ts';

export interface ImportWatch {
  /** The plugin, as the message begins. */
  what: string;
  /** The import's own deadline, which does not fire while the thread is blocked. */
  seconds: number;
}

const standardError = 2;
const usersMistake = 2;
const interrupted = 130;
/** Later than the deadline itself, which has the better message. */
const graceS = 3;

/** Runs in its own thread, since the watched thread may stay blocked. */
const watchdog = `
  const { workerData } = require('node:worker_threads');
  setTimeout(() => {
    require('node:fs').writeSync(${standardError}, workerData.text);
    process.kill(process.pid, 'SIGKILL');
  }, workerData.ms);
`;

const line = (what: string, problem: string): string => `PLUGIN_LOAD_FAILED: ${what} ${problem}\n`;

/**
 * Imports under guard. Code that ends the process or blocks the thread during its import cannot be caught: the plugin
 * is named on stderr, and the process fails.
 */
export async function watchImport<Module>(
  load: () => Promise<Module>,
  { what, seconds }: ImportWatch,
): Promise<Module> {
  const onExit = (code: number): void => {
    if (code === interrupted) return;
    writeSync(standardError, line(what, 'ended the process during its import.'));
    process.exitCode = usersMistake;
  };
  const text = line(
    what,
    `blocked the process for more than ${seconds} s during its import. The process was killed.`,
  );
  const ms = (seconds + graceS) * 1000;
  const guard = new Worker(watchdog, { eval: true, execArgv: [], workerData: { text, ms } });
  const broken = new Promise<never>((_, reject) => {
    guard.once('error', (cause) => {
      reject(
        new AgentRlError(
          'PLUGIN_LOAD_FAILED',
          `${what} cannot be loaded: the thread that limits its import time failed.`,
          { cause },
        ),
      );
    });
  });
  process.once('exit', onExit);
  try {
    return await Promise.race([load(), broken]);
  } finally {
    process.off('exit', onExit);
    await guard.terminate();
  }
}
