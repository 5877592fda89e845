import { describe, expect, test } from '@jest/globals';

import { missingProtections } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { endingOf, outputOf, readNotes } from '#agent_rl/sandbox/native/outcome.ts';
import type { ProcessReply } from '#agent_rl/sandbox/native/protocol.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ready = '{"ready":true}\n';

interface Ended {
  why?: ProcessReply['why'];
  late?: boolean;
  /** As waitpid(2) packs it: 256 is an exit with code 1. */
  status?: number | null;
  notes?: string;
  diskFull?: boolean;
  overQuota?: boolean;
  overTasks?: boolean;
  failed?: string;
  stderr?: string;
}

const reply = ({ why = null, status = 0, notes = ready, ...more }: Ended): ProcessReply => ({
  why,
  late: more.late ?? false,
  stdout: '',
  stderr: base64(more.stderr ?? ''),
  stdoutBytes: 0,
  stderrBytes: 0,
  notes,
  wallMs: 5,
  end: {
    status,
    disk_full: more.diskFull ?? false,
    over_quota: more.overQuota ?? false,
    over_tasks: more.overTasks ?? false,
    cpu_s: 0.25,
    peak_kib: 2048,
    failed: more.failed ?? null,
  },
});

const ending = (ended: Ended) => endingOf(reply(ended), readNotes(ended.notes ?? ready));
const exited = (code: number): number => code << 8;

describe('A process', () => {
  const interrupted = `${ready}{"interrupted":true}\n`;
  const full = `${ready}{"memory":true}\n`;
  const killed = { status: 'signaled', signal: 'SIGKILL' };
  const tooManyThreads = 'it had more threads than allowed';
  const overQuota = { diskFull: true, overQuota: true };

  test.each<[string, Ended, object]>([
    ['well', {}, { status: 'ok', exitCode: 0 }],
    ['with a code', { status: exited(7) }, { status: 'error', exitCode: 7 }],
    ['by a crash', { status: 11 }, { status: 'signaled', signal: 'SIGSEGV' }],
    ['by a crash with a core', { status: 11 | 0x80 }, { status: 'signaled', signal: 'SIGSEGV' }],
    ['by its processor time', { status: 24 }, { status: 'timeout' }],
    ['by the size of a file', { status: 25 }, { status: 'file_limit' }],
    ['at its deadline', { status: 9, why: 'timeout' }, { status: 'timeout' }],
    ['by too much output', { status: 9, why: 'output_limit' }, { status: 'output_limit' }],
    ['well, but after its deadline', { late: true }, { status: 'timeout', exitCode: 0 }],
    ['by its interrupt', { status: 256, notes: interrupted }, { status: 'timeout', exitCode: 1 }],
    ['out of memory', { status: 256, notes: full }, { status: 'memory_limit', exitCode: 1 }],
    ['on a full disk', { status: 256, diskFull: true }, { status: 'disk_limit', exitCode: 1 }],
    ['well, on a disk that it filled', { diskFull: true }, { status: 'ok', exitCode: 0 }],
    ['well, in a folder that holds too much', overQuota, { status: 'disk_limit', exitCode: 0 }],
    ['for its threads', { status: 9, overTasks: true }, { ...killed, message: tooManyThreads }],
    ['for its folder', { status: 9, ...overQuota }, { status: 'disk_limit' }],
  ])('is reported with its status if it ended %s', (_, ended, expected) => {
    expect(ending(ended)).toEqual(expected);
  });

  test.each<[string, Ended, RegExp]>([
    ['cannot be started', { failed: 'no memory' }, /^no memory$/],
    ['gets behind no walls', { status: exited(125), notes: '', stderr: 'no walls' }, /no walls/],
    ['leaves no report of its end', { status: null }, /without a report/],
  ])('is a failure of the sandbox if it %s', (_, ended, message) => {
    expect(ending(ended)).toMatchObject({ status: 'sandbox_error' });
    expect(ending(ended).message).toMatch(message);
  });

  test('cannot blame the sandbox by its output or its exit code', () => {
    const notes = `${ready}{"ready":false}\n`;
    const end = ending({ status: exited(125), notes, stderr: 'the walls could not be put up' });
    expect(end).toEqual({ status: 'error', exitCode: 125 });
  });
});

test('Notes are separated from results, no matter who wrote them', () => {
  const text = `${ready}{"begun":true}\n{"ok":true,"value":1}\n{"interrupted":true}\n{"done": 256}\n{"ok":tr`;
  const results = ['{"ok":true,"value":1}'];
  const notes = { ready: true, interrupted: true, outOfMemory: false, done: 256 };
  expect(readNotes(text)).toEqual({ ...notes, results });
});

test('A character cut by the cap is left out, and one that is not text is replaced', () => {
  const cut = { ...reply({}), stdout: Buffer.from('aé').subarray(0, 2).toString('base64') };
  expect(outputOf({ ...cut, stdoutBytes: 9 }, 'x')).toMatchObject({ stdout: 'a', truncated: true });
  const whole = { stdout: 'a\ufffd', truncated: false, cpuMs: 250, peakRssBytes: 2048 * 1024 };
  expect(outputOf({ ...cut, stdoutBytes: 2 }, 'x')).toMatchObject(whole);
});

test.each([
  ['ns', 'own', true, []],
  ['ns', 'own', false, ['addresses']],
  ['ns', 'shared', false, ['addresses', 'threads']],
  // Without root it always shares them.
  ['lite', 'shared', true, []],
] as const)(
  'Of level %s with %s threads, fixed addresses %s, the native sandbox reports as missing: %j',
  (level, tasks, fixedAddresses, missing) => {
    const walls = { landlock: 7, seccomp: true, user: 'same', tasks } as const;
    const hello = { level, python: '3.11.2', fixedAddresses, walls, swept: 0 };
    expect(missingProtections(hello).map(({ kind }) => kind)).toEqual(missing);
  },
);
