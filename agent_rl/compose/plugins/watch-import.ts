import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { AgentRlError } from '../../core/errors.ts';

export interface ImportWatch {
  /** Begins the message: which plugin it is. */
  what: string;
  /** Of the import's own deadline, which a thread that is never given back cannot keep. */
  seconds: number;
}

const standardError = 2;
const usersMistake = 2;
const interrupted = 130;
/** The deadline itself is reached first where possible. */
const graceS = 3;

/** Runs in a thread of its own, since the watched one may never be free again. */
const watchdog = `
  const { workerData } = require('node:worker_threads');
  setTimeout(() => {
    require('node:fs').writeSync(${standardError}, workerData.text);
    process.kill(process.pid, 'SIGKILL');
  }, workerData.ms);
`;

const line = (what: string, problem: string): string => `PLUGIN_LOAD_FAILED: ${what} ${problem}\n`;

/**
 * Imports under guard. Code that ends the process while it is imported, or never gives the thread back, cannot be
 * caught: it is named on stderr, and the process fails.
 */
export async function watchImport<Module>(
  load: () => Promise<Module>,
  { what, seconds }: ImportWatch,
): Promise<Module> {
  const onExit = (code: number): void => {
    if (code === interrupted) return;
    writeSync(standardError, line(what, 'ended the process while it was imported.'));
    process.exitCode = usersMistake;
  };
  const text = line(
    what,
    `was not loaded after ${seconds} s and never gave its thread back: it works without end while it is imported. The process was killed.`,
  );
  const ms = (seconds + graceS) * 1000;
  const guard = new Worker(watchdog, { eval: true, execArgv: [], workerData: { text, ms } });
  const broken = new Promise<never>((_, reject) => {
    guard.once('error', (cause) => {
      reject(new AgentRlError('PLUGIN_LOAD_FAILED', `${what} cannot be guarded.`, { cause }));
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
