import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { AgentRlError, nodeCodeOf } from '../core/errors.ts';
import { madeNew } from './atomic-write.ts';

/** Keeps a run to one process. */
export interface RunLock {
  release(): void;
}

interface Holder {
  pid: number;
  host: string;
}

// Of this process: a container often starts again under the process id it had before.
const held = new Set<string>();

/** Whether a process of this machine is running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs and is another user's.
    return nodeCodeOf(error) === 'EPERM';
  }
}

/**
 * Takes a run's `run.lock`, which names the process that writes to the run. One that a process left behind that no
 * longer runs is replaced.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` while another process, or this one, holds it.
 */
export function lockRun(folder: string): RunLock {
  const file = join(folder, 'run.lock');
  const own: Holder = { pid: process.pid, host: hostname() };
  const take = () => writeFileSync(file, `${JSON.stringify(own)}\n`, { flag: 'wx' });
  if (!madeNew(file, take)) {
    const text = readFileSync(file, 'utf8');
    if (isInUse(file, text)) throw inUse(folder, file, text);
    takeAway(folder, file, text);
    if (!madeNew(file, take)) throw inUse(folder, file, readFileSync(file, 'utf8'));
  }
  held.add(file);
  return {
    release: () => {
      held.delete(file);
      rmSync(file, { force: true });
    },
  };
}

/** Removes a lock that was left behind, and no lock that somebody took meanwhile. */
function takeAway(folder: string, file: string, text: string): void {
  const renamed = `${file}.${process.pid}.stale`;
  renameSync(file, renamed);
  const moved = readFileSync(renamed, 'utf8');
  if (moved !== text) {
    renameSync(renamed, file);
    throw inUse(folder, file, moved);
  }
  rmSync(renamed);
}

function isInUse(file: string, text: string): boolean {
  const holder = holderOf(text);
  // What cannot be read was cut off while it was written; a process of another machine cannot be asked.
  if (holder === undefined) return false;
  if (holder.host !== hostname()) return true;
  return holder.pid === process.pid ? held.has(file) : isRunning(holder.pid);
}

function holderOf(text: string): Holder | undefined {
  try {
    const { pid, host } = JSON.parse(text) as Partial<Holder>;
    return Number.isSafeInteger(pid) && typeof host === 'string' ? { pid: pid!, host } : undefined;
  } catch {
    return undefined;
  }
}

function inUse(folder: string, file: string, text: string): AgentRlError {
  return new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `The run ${folder} is in use: ${file} names ${text.trim()}. Two processes must not write to one run. Wait until that one has ended; if it is on another machine and has ended, delete the file.`,
  );
}
