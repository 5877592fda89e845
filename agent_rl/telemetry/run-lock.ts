import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { AgentRlError, nodeCodeOf } from '../core/errors.ts';
import { madeNew, writing } from './atomic-write.ts';

/*
 * `run.lock` is a lease. It names the process that writes to a run, and that process touches it every few seconds. A
 * process of this machine can be looked at: its lock is left behind when it no longer runs, or when its id belongs to
 * a process that started at another time. One of another machine cannot: its lock is left behind when it has not been
 * touched for some minutes. A process that slept so long finds out before it writes again.
 */

/** Keeps a run to one process. */
export interface RunLock {
  /** What was found in its place, a sentence each. */
  notes: readonly string[];
  /** @throws AgentRlError `OUTPUT_UNWRITABLE` when another process has taken the run meanwhile */
  requireHeld(): void;
  release(): void;
}

interface Holder {
  pid: number;
  host: string;
  /** When the process started, as its system tells; null where none does. */
  started: string | null;
}

/** Between two touches. */
const renewedEveryS = 10;
/** Longer than a busy process or a slow network drive leaves it untouched. */
const staleAfterS = 300;

// Of this process: a container often starts again under the process id it had before.
const held = new Set<string>();

/** Whether a process of this machine is running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs and is another user's.
    return nodeCodeOf(error) === 'EPERM';
  }
}

/** When a process of this machine started, in a form that no other process ever has; null where Linux is not there to tell. */
function startOf(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // Field 22; the second is the program's name in parentheses, which may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return `${boot} ${fields?.[19]}`;
  } catch {
    return null;
  }
}

/**
 * Takes a run's `run.lock`. One that was left behind is replaced.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` while another process, or this one, holds it.
 */
export function lockRun(folder: string): RunLock {
  const file = join(folder, 'run.lock');
  const own: Holder = { pid: process.pid, host: hostname(), started: startOf(process.pid) };
  const text = `${JSON.stringify(own)}\n`;
  const take = () => writeFileSync(file, text, { flag: 'wx' });
  const notes: string[] = [];
  if (!madeNew(file, take)) {
    const found = readFileSync(file, 'utf8');
    const left = leftBehind(file, found);
    if (left === undefined) throw inUse(folder, file, found);
    takeAway(folder, file, found);
    if (!madeNew(file, take)) throw inUse(folder, file, readFileSync(file, 'utf8'));
    notes.push(`Replaced the stale lock ${file}: ${left}.`);
  }
  held.add(file);
  return { notes, ...leaseOf(folder, file, text) };
}

/**
 * Whether a process holds a run, for those who only look: nothing is written, and the age of a lock of another machine is by
 * this machine's clock.
 *
 * @returns `why` a lock that is there is stale, or which process holds it; undefined without a lock
 */
export function holderOfRun(folder: string): { held: boolean; why: string } | undefined {
  const file = join(folder, 'run.lock');
  const text = textOf(file);
  if (text === undefined) return undefined;
  const left = leftBehind(file, text, ageByOwnClock);
  const { pid, host } = holderOf(text) ?? {};
  return left === undefined
    ? { held: true, why: `process ${pid} on ${host} is running it` }
    : { held: false, why: left };
}

/** Keeps a lock touched until it is released. */
function leaseOf(folder: string, file: string, text: string): Omit<RunLock, 'notes'> {
  // By its open file, which stays this process's own whatever takes its place. The clock is then that of the disk.
  const descriptor = writing(file, () => openSync(file, 'r+'));
  const renew = (): void => {
    try {
      writeSync(descriptor, '\n', text.length - 1);
    } catch {
      // Whether the run is still this process's own is asked before anything is written.
    }
  };
  const timer = setInterval(renew, 1000 * renewedEveryS).unref();
  const isOwn = (): boolean => textOf(file) === text;
  return {
    requireHeld: () => {
      if (isOwn()) return;
      throw new AgentRlError(
        'OUTPUT_UNWRITABLE',
        `The run ${folder} no longer belongs to this process: ${file} ${textOf(file) === undefined ? 'is gone' : `names ${textOf(file)?.trim()}`}. The lock was deleted, or another process took it over while this one was suspended. This process writes nothing more; check the other process.`,
      );
    },
    release: () => {
      clearInterval(timer);
      closeSync(descriptor);
      held.delete(file);
      if (isOwn()) rmSync(file, { force: true });
    },
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (nodeCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Removes a lock that was left behind, but not a lock that another process took meanwhile. */
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

/** Why a lock is stale, or `undefined` while a process holds it. */
function leftBehind(file: string, text: string, age = ageOf): string | undefined {
  const holder = holderOf(text);
  if (holder === undefined) return 'its file is incomplete';
  const { pid, host, started } = holder;
  if (host !== hostname()) return untouched(file, holder, age);
  if (pid === process.pid)
    return held.has(file) ? undefined : `process ${pid} was an earlier process with the same id`;
  if (!isRunning(pid)) return `process ${pid} no longer runs`;
  const now = startOf(pid);
  if (now === null || started === null) return untouched(file, holder, age);
  return now === started ? undefined : `process ${pid} has ended, and its id was reused`;
}

/** The same by the last touch alone. */
function untouched(
  file: string,
  { pid, host }: Holder,
  age: (file: string) => number,
): string | undefined {
  const ageS = age(file);
  if (ageS <= staleAfterS) return undefined;
  return `process ${pid} on ${host} has not renewed its lock for ${Math.round(ageS / 60)} min`;
}

/** Seconds since a file was written, by the clock of its disk: that of another machine may be wrong. */
function ageOf(file: string): number {
  const probe = `${file}.${process.pid}.probe`;
  return writing(probe, () => {
    writeFileSync(probe, '');
    const ageMs = statSync(probe).mtimeMs - statSync(file).mtimeMs;
    rmSync(probe);
    return ageMs / 1000;
  });
}

const ageByOwnClock = (file: string): number => (Date.now() - statSync(file).mtimeMs) / 1000;

function holderOf(text: string): Holder | undefined {
  try {
    const { pid, host, started = null } = JSON.parse(text) as Partial<Holder>;
    if (!Number.isSafeInteger(pid) || typeof host !== 'string') return undefined;
    return { pid: pid!, host, started };
  } catch {
    return undefined;
  }
}

function inUse(folder: string, file: string, text: string): AgentRlError {
  return new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `The run ${folder} is in use: ${file} names ${text.trim()}. Only one process may write to a run. Wait until that process ends; if it was killed on another machine, the run is free ${staleAfterS / 60} min after the last renewal of its lock.`,
  );
}
