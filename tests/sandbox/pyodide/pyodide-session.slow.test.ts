import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { SandboxSession, SessionRequest } from '#agent_rl/core/services/sandbox.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

/** Child processes of this one, where the system shows them. */
function children(): number[] {
  const isOurs = (pid: string): boolean => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return fields[1] === String(process.pid) && fields[0] !== 'Z';
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map(Number);
}
const onLinux = process.platform === 'linux' ? test : test.skip;

describe('A session', () => {
  const sandbox = startedSandbox();
  /** Opens a session for one test and closes it whatever happens. */
  async function inSession(
    work: (session: SandboxSession) => Promise<void>,
    request?: SessionRequest,
  ): Promise<void> {
    const session = sandbox().openSession(request);
    try {
      await work(session);
    } finally {
      await session.close();
    }
  }

  /** Serves the tests that need no fresh interpreter. */
  let shared: SandboxSession;
  beforeAll(() => {
    shared = sandbox().openSession();
  });
  afterAll(() => shared.close());
  const inTheSession = (work: (session: SandboxSession) => Promise<void>): Promise<void> =>
    work(shared);

  test('gives each program its own standard input', () =>
    inTheSession(async (session) => {
      const code = 'print(input())';
      expect((await session.run({ code, stdin: 'a\nb\n' })).stdout).toBe('a\n');
      expect((await session.run({ code, stdin: 'c\n' })).stdout).toBe('c\n');
      expect((await session.run({ code })).stderr).toContain('EOFError');
    }));

  test('outlives an exception, an exit, a lack of memory and an interrupt', () =>
    inTheSession(async (session) => {
      const ended = async (code: string, wallS?: number): Promise<unknown[]> => {
        const limits = { memoryMiB: 128, ...(wallS !== undefined && { wallS }) };
        const { status, exitCode, alive } = await session.run({ code, limits });
        return [status, exitCode, alive];
      };
      expect(await ended('x = 1\n1 / 0')).toEqual(['error', 1, true]);
      expect(await ended('import sys\nx += 1\nsys.exit(3)')).toEqual(['error', 3, true]);
      expect(await ended('bytearray(2 ** 30)')).toEqual(['memory_limit', 1, true]);
      expect(await ended('x += 1\nwhile True: pass', 0.5)).toEqual(['timeout', undefined, true]);
      expect((await session.run({ code: 'print(x)' })).stdout).toBe('3\n');
    }));

  test.each([
    ['ignores interrupts', 'while True:\n  try:\n    while True: pass\n  except: pass', 'timeout'],
    ['floods its output', 'while True: print("a" * 10000)', 'output_limit'],
    ['breaks the interpreter', 'import os\nos.abort()', 'crashed'],
  ])('ends with a program that %s, and starts anew', async (_, code, status) => {
    await inTheSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const limits = status === 'timeout' ? { wallS: 0.5 } : {};
      expect(await session.run({ code, limits })).toMatchObject({ status, alive: false });
      expect((await session.run({ code: 'print("x" in globals())' })).stdout).toBe('False\n');
    });
  });

  test('has one disk quota for all of its programs', () =>
    inSession(async (session) => {
      const write = (name: string): string => `open("${name}", "wb").write(bytes(20 << 20))`;
      expect(await session.run({ code: write('a') })).toMatchObject({ status: 'ok' });
      expect(await session.run({ code: write('b') })).toMatchObject({ status: 'disk_limit' });
      expect(await session.run({ code: 'print(1)' })).toMatchObject({ status: 'ok', alive: true });
    }));

  test('runs one program at a time, in the order they were given', () =>
    inTheSession(async (session) => {
      await session.run({ code: 'x = []' });
      const codes = ['import time\ntime.sleep(0.1)\nx.append(1)', 'x.append(2)', 'print(x)'];
      const runs = await Promise.all(codes.map((code) => session.run({ code })));
      expect(runs.map(({ stdout }) => stdout)).toEqual(['', '', '[1, 2]\n']);
    }));

  test('draws the numbers of its seed', () =>
    inSession(
      async (session) => {
        const code = 'import random\nprint(random.random())';
        const run = async (seed: number): Promise<string> =>
          (await sandbox().execute({ kind: 'run', code, seed })).stdout;
        const { stdout } = await session.run({ code });
        expect(stdout).toBe(await run(1));
        expect(stdout).not.toBe(await run(2));
      },
      { seed: 1 },
    ));

  test('waits no longer when it is cancelled or closed', () =>
    inTheSession(async (first) => {
      await first.run({ code: 'x = 1' });
      const abort = new AbortController();
      const cancelled = sandbox().openSession();
      const closed = sandbox().openSession();
      const runs = [cancelled.run({ code: 'x' }, abort.signal), closed.run({ code: 'x' })];
      abort.abort(new Error('enough'));
      await expect(runs[0]).rejects.toThrow('enough');
      await closed.close();
      expect(await runs[1]).toMatchObject({ status: 'sandbox_error', alive: false });
      expect((await first.run({ code: 'print(x)' })).stdout).toBe('1\n');
    }));

  test('ends with a program that is cancelled, and starts anew', () =>
    inTheSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const abort = new AbortController();
      const running = session.run({ code: 'while True: pass' }, abort.signal);
      const next = session.run({ code: 'print("x" in globals())' });
      // Its turn has come once the event loop has gone round.
      await new Promise((resolve) => setImmediate(resolve));
      abort.abort(new Error('enough'));
      await expect(running).rejects.toThrow('enough');
      expect((await next).stdout).toBe('False\n');
    }));

  test('says that it was closed to a program that runs and to those after', () =>
    inSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const running = session.run({ code: 'while True: pass' });
      await new Promise((resolve) => setImmediate(resolve));
      await session.close();
      const closed = { status: 'sandbox_error', alive: false };
      expect(await running).toMatchObject(closed);
      expect(await session.run({ code: 'print(1)' })).toMatchObject(closed);
    }));

  onLinux('is not charged to its program when its interpreter is killed from outside', async () => {
    const before = children();
    await inSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const own = children().filter((pid) => !before.includes(pid));
      expect(own).toHaveLength(1);
      const running = session.run({ code: 'while True: pass' });
      await new Promise((resolve) => setImmediate(resolve));
      killProcess(own[0]);
      expect(await running).toMatchObject({ status: 'sandbox_error', alive: false });
    });
  });

  onLinux('leaves no process behind, however it ends', async () => {
    const before = children();
    const other = await PyodideSandbox.start({ workers: 1 });
    const sessions = [other.openSession(), other.openSession()];
    await Promise.all(sessions.map((session) => session.run({ code: 'x = 1' })));
    expect(children()).toHaveLength(before.length + 3);
    await sessions[0]?.close();
    expect(children()).toHaveLength(before.length + 2);
    const running = sessions[1]?.run({ code: 'while True: pass' });
    await other.close();
    expect(await running).toMatchObject({ status: 'sandbox_error', alive: false });
    expect(children()).toEqual(before);
  });
});
