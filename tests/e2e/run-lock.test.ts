import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

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
const holder = (pid: number, host = hostname()): string => JSON.stringify({ pid, host });

describe('the lock of a run', () => {
  test('keeps a second one out, naming the file and the process, until it is released', () => {
    const folder = newFolder();
    const lock = lockRun(folder);
    const { code, message } = thrownBy(() => lockRun(folder));
    expect(code).toBe('OUTPUT_UNWRITABLE');
    expect(message).toContain(`${join(folder, 'run.lock')} names {"pid":${process.pid},`);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    lockRun(folder).release();
  });

  test.each([
    ['a process that has ended', holder(deadPid)],
    ['an earlier process of the same id', holder(process.pid)],
    ['a process that was killed while it wrote', '{"pid"'],
  ])('left behind by %s is replaced', (_, text) => {
    const folder = newFolder();
    writeBelow(folder, 'run.lock', text);
    const lock = lockRun(folder);
    expect(readFileSync(join(folder, 'run.lock'), 'utf8')).toBe(`${holder(process.pid)}\n`);
    lock.release();
  });

  test.each([
    ['a process that runs', holder(process.ppid)],
    ['a process of another machine', holder(deadPid, 'another')],
  ])('of %s holds', (_, text) => {
    const folder = newFolder();
    writeBelow(folder, 'run.lock', text);
    expect(thrownBy(() => lockRun(folder)).code).toBe('OUTPUT_UNWRITABLE');
    expect(readFileSync(join(folder, 'run.lock'), 'utf8')).toBe(text);
  });
});

describe('what a killed process left half written', () => {
  test('is removed, with a note for each, and nothing else', () => {
    const folder = newFolder();
    writeBelow(folder, `step-4.${deadPid}.partial/model.safetensors`, 'torn');
    writeBelow(folder, `step-6.${process.ppid}.partial/model.safetensors`, 'being written');
    writeBelow(folder, 'step-2/model.safetensors', 'whole');
    const [told = '', ...more] = clearPartials(folder);
    expect(told).toContain(`step-4.${deadPid}.partial is removed`);
    expect(more).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(['step-2', `step-6.${process.ppid}.partial`]);
  });

  test('is put back where it was about to be replaced and nothing took its place', () => {
    const folder = newFolder();
    writeBelow(folder, `best.${deadPid}.partial.old/model.safetensors`, 'whole');
    expect(clearPartials(folder)).toEqual([expect.stringContaining('best is put back')]);
    expect(readFileSync(join(folder, 'best', 'model.safetensors'), 'utf8')).toBe('whole');
    writeBelow(folder, `best.${deadPid}.partial.old/model.safetensors`, 'older');
    expect(clearPartials(folder)).toEqual([expect.stringContaining('.partial.old is removed')]);
    expect(readFileSync(join(folder, 'best', 'model.safetensors'), 'utf8')).toBe('whole');
  });

  test('is nothing where there is no folder', () => {
    expect(clearPartials(join(root, 'none'))).toEqual([]);
    expect(existsSync(join(root, 'none'))).toBe(false);
  });
});
