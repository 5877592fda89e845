import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { clearPartials } from '#agent_rl/runs/resume-point.ts';
import { lockRun } from '#agent_rl/telemetry/run-lock.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { thrownBy } from '../support/thrown.ts';

const root = temporaryFolder();
let count = 0;
const newFolder = (): string => {
  const folder = join(root, `run-${count++}`);
  mkdirSync(folder);
  return folder;
};
/** Of a process that has ended. */
const deadPid = spawnSync(process.execPath, ['-e', '']).pid;
const started = (pid: number, at: string | null, host = hostname()): string =>
  JSON.stringify({ pid, host, started: at });
const lockOf = (folder: string): string => join(folder, 'run.lock');
const minutesAgo = (minutes: number): Date => new Date(Date.now() - 60_000 * minutes);
/** A folder with a lock that was last touched so long ago. */
function lockedFolder(text: string, minutes = 0): string {
  const folder = newFolder();
  writeBelow(folder, 'run.lock', text);
  utimesSync(lockOf(folder), minutesAgo(minutes), minutesAgo(minutes));
  return folder;
}

afterEach(() => void jest.useRealTimers());

describe('The lock of a run', () => {
  test('keeps a second process out until it is released, and names the file and the process', () => {
    const folder = newFolder();
    const lock = lockRun(folder);
    expect(lock.notes).toEqual([]);
    const { code, message } = thrownBy(() => lockRun(folder));
    expect(code).toBe('OUTPUT_UNWRITABLE');
    expect(message).toContain(`${lockOf(folder)} names {"pid":${process.pid},`);
    lock.requireHeld();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    lockRun(folder).release();
  });

  test.each([
    ['a process that has ended', started(deadPid, null), 0, /process \d+ no longer runs/],
    [
      'an earlier process of the same id',
      started(process.pid, null),
      0,
      /was an earlier process with the same id/,
    ],
    ['a process that was killed while it wrote', '{"pid"', 0, /its file is incomplete/],
    [
      'a machine that gave no sign of life',
      started(7, 'boot 1', 'other'),
      6,
      /process 7 on other has not renewed its lock for 6 min/,
    ],
    [
      'a process that no system tells of, untouched',
      started(process.ppid, null),
      6,
      /has not renewed its lock for 6 min/,
    ],
  ])('is replaced with a note when %s left it behind', (_, text, minutes, why) => {
    const folder = lockedFolder(text, minutes);
    const lock = lockRun(folder);
    expect(lock.notes).toEqual([expect.stringMatching(why)]);
    expect(JSON.parse(readFileSync(lockOf(folder), 'utf8'))).toMatchObject({ pid: process.pid });
    expect(readdirSync(folder)).toEqual(['run.lock']);
    lock.release();
  });

  const onLinux = existsSync('/proc/self/stat') ? test : test.skip;
  onLinux('is replaced when its process id now belongs to another process', () => {
    const folder = lockedFolder(started(process.ppid, 'another boot 1'));
    const lock = lockRun(folder);
    expect(lock.notes).toEqual([expect.stringMatching(/has ended, and its id was reused/)]);
    lock.release();
  });

  onLinux(
    'records when its process started, to distinguish it from later processes with the same id',
    () => {
      const folder = newFolder();
      const lock = lockRun(folder);
      const { started: own } = JSON.parse(readFileSync(lockOf(folder), 'utf8'));
      expect(own).toMatch(/^[0-9a-f-]{36} [0-9]+$/);
      lock.release();
    },
  );

  test.each([
    ['a process that runs and that no system tells of', started(process.ppid, null), 4],
    ['a process of another machine', started(deadPid, 'boot 1', 'other'), 4],
  ])('is respected for %s', (_, text, minutes) => {
    const folder = lockedFolder(text, minutes);
    expect(thrownBy(() => lockRun(folder)).code).toBe('OUTPUT_UNWRITABLE');
    expect(readFileSync(lockOf(folder), 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(['run.lock']);
  });

  test('is touched every ten seconds while held', () => {
    jest.useFakeTimers();
    const folder = newFolder();
    const lock = lockRun(folder);
    const text = readFileSync(lockOf(folder), 'utf8');
    utimesSync(lockOf(folder), minutesAgo(9), minutesAgo(9));
    jest.advanceTimersByTime(10_000);
    expect(statSync(lockOf(folder)).mtimeMs).toBeGreaterThan(minutesAgo(1).getTime());
    expect(readFileSync(lockOf(folder), 'utf8')).toBe(text);
    lock.release();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is no longer held, and not removed, after another process took it', () => {
    jest.useFakeTimers();
    const folder = newFolder();
    const lock = lockRun(folder);
    const other = started(7, 'boot 1', 'other');
    rmSync(lockOf(folder));
    writeBelow(folder, 'run.lock', other);
    jest.advanceTimersByTime(10_000);
    const { code, message } = thrownBy(() => lock.requireHeld());
    expect(code).toBe('OUTPUT_UNWRITABLE');
    expect(message).toContain(`names ${other}`);
    lock.release();
    expect(readFileSync(lockOf(folder), 'utf8')).toBe(other);
  });
});

describe('A half-written file of a killed process', () => {
  test('is removed with a note, and no other file is', () => {
    const folder = newFolder();
    writeBelow(folder, `step-4.${deadPid}.partial/model.safetensors`, 'torn');
    // The id of a killed process may be another's by now.
    writeBelow(folder, `step-6.${process.ppid}.partial/model.safetensors`, 'torn');
    writeBelow(folder, 'step-2/model.safetensors', 'whole');
    expect(clearPartials(folder)).toEqual([
      expect.stringContaining(`step-4.${deadPid}.partial: the process`),
      expect.stringContaining(`step-6.${process.ppid}.partial: the process`),
    ]);
    expect(readdirSync(folder)).toEqual(['step-2']);
  });

  test('is restored when it was moved aside and not yet replaced', () => {
    const folder = newFolder();
    writeBelow(folder, `best.${deadPid}.partial.old/model.safetensors`, 'whole');
    expect(clearPartials(folder)).toEqual([expect.stringMatching(/^Restored .*best:/)]);
    expect(readFileSync(join(folder, 'best', 'model.safetensors'), 'utf8')).toBe('whole');
    writeBelow(folder, `best.${deadPid}.partial.old/model.safetensors`, 'older');
    expect(clearPartials(folder)).toEqual([expect.stringContaining('.partial.old: the process')]);
    expect(readFileSync(join(folder, 'best', 'model.safetensors'), 'utf8')).toBe('whole');
  });
});
