import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import type { StoredSummary } from '#agent_rl/runs/query/stored-summary.ts';
import { headlineOf, lastIteration, runState, startedAt } from '#agent_rl/runs/view/run-state.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { lockRun } from '#agent_rl/telemetry/run-lock.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = runFolderAt(join(temporaryFolder(), 'run'));

beforeEach(() => {
  rmSync(folder.path, { recursive: true, force: true });
  mkdirSync(folder.path);
});

const logged = (level: string, text: string) =>
  appendFileSync(folder.log, `2026-01-02T03:04:05.678Z ${level} ${text}\n`);

/** Writes the lock of a process. */
const heldBy = (pid: number, host: string): string =>
  writeBelow(folder.path, 'run.lock', `${JSON.stringify({ pid, host, started: null })}\n`);

describe('The state of a run', () => {
  test('is training while a process holds it, whatever an earlier session left', () => {
    const lock = lockRun(folder.path);
    logged('error', 'The run ended: an earlier session');
    expect(runState(folder, { interrupted: true })).toEqual({
      state: 'training',
      stateWhy: `process ${process.pid} on ${hostname()} is running it`,
    });
    lock.release();
  });

  test('is finished or interrupted as its summary says', () => {
    expect(runState(folder, { interrupted: false })).toEqual({ state: 'finished', stateWhy: null });
    expect(runState(folder, { interrupted: true })).toMatchObject({ state: 'interrupted' });
  });

  test('is failed with the reason from the log, unless the run finished later', () => {
    logged('error', 'The run ended: AgentRlError: no room');
    const failed = { state: 'failed', stateWhy: 'AgentRlError: no room' };
    expect(runState(folder, undefined)).toEqual(failed);
    writeFileSync(folder.summary, '{}');
    expect(runState(folder, {})).toMatchObject({ state: 'finished' });
    utimesSync(folder.summary, 1, 1);
    expect(runState(folder, {})).toMatchObject({ state: 'failed' });
  });

  test('is interrupted where the process that held it is gone', () => {
    // Ids end at 2^22 on Linux.
    const pid = 2 ** 22 + 1;
    heldBy(pid, hostname());
    logged('info', 'It began');
    const interrupted = { state: 'interrupted', stateWhy: `process ${pid} no longer runs` };
    expect(runState(folder, undefined)).toEqual(interrupted);
  });

  test('is interrupted where a process of another machine has not renewed its lock for long', () => {
    const lock = heldBy(1, 'elsewhere');
    expect(runState(folder, undefined).state).toBe('training');
    const longAgo = Date.now() / 1000 - 600;
    utimesSync(lock, longAgo, longAgo);
    expect(runState(folder, undefined)).toEqual({
      state: 'interrupted',
      stateWhy: 'process 1 on elsewhere has not renewed its lock for 10 min',
    });
  });

  test('is unknown where the summary cannot be read, unless the run is training or its log tells', () => {
    const problem = 'summary.json cannot be read: it is not a record.';
    logged('info', 'It began');
    expect(runState(folder, undefined, problem)).toEqual({ state: 'unknown', stateWhy: problem });
    logged('error', 'The run ended: no room');
    expect(runState(folder, undefined, problem).state).toBe('failed');
    const lock = lockRun(folder.path);
    expect(runState(folder, undefined, problem).state).toBe('training');
    lock.release();
  });
});

test('the last iteration is that of the last whole line, and a run started when its log began', () => {
  expect(runState(folder, undefined).state).toBe('unknown');
  expect([lastIteration(folder), startedAt(folder)]).toEqual([0, null]);
  writeFileSync(folder.metrics, '{"iteration":1,"a":2}\n{"iteration":2}\n{"iteration":3,"a"');
  logged('info', 'Computes on: this');
  expect([lastIteration(folder), startedAt(folder)]).toEqual([2, '2026-01-02T03:04:05.678Z']);
});

describe('The headline', () => {
  test('has the numbers of the summary', () => {
    const rate = { n: 4, successRate: 0.5, interval95: { low: 0.25, high: 0.75 } };
    const difference = { tasks: 4, difference: 0.5, interval95: { low: 0, high: 1 } };
    const summary = { eval: { before: rate, after: null, difference } } as unknown as StoredSummary;
    expect(headlineOf(folder, summary)).toEqual({
      before: { value: 0.5, low: 0.25, high: 0.75, n: 4 },
      after: null,
      difference: { value: 0.5, low: 0, high: 1, n: 4 },
    });
  });

  test('has the numbers of the log until there is a summary', () => {
    expect(headlineOf(folder, undefined)).toBe(null);
    logged('info', 'Evaluation before iteration 0: 1 of 8 = 12.5 % [2.5, 47.0]');
    const before = { value: 0.125, low: 0.025, high: 0.47, n: 8 };
    expect(headlineOf(folder, undefined)).toEqual({ before, after: null, difference: null });
  });
});
