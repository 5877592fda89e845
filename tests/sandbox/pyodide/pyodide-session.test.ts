import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import type { SandboxSession, SessionRequest } from '#agent_rl/core/services/sandbox.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
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

  test('keeps variables, functions, imports and files from program to program', () =>
    inSession(async (session) => {
      const first = await session.run({
        code: 'import math\ndef f(x): return x + y\ny = 2\nopen("a", "w").write("kept")\nprint("one")',
      });
      expect(first).toMatchObject({ status: 'ok', exitCode: 0, stdout: 'one\n', alive: true });
      const second = await session.run({ code: 'print(f(1), math.pi > 3, open("a").read())' });
      expect(second).toMatchObject({ stdout: '3 True kept\n', stderr: '', stdoutBytes: 12 });
    }));

  test('gives each program its own standard input', () =>
    inSession(async (session) => {
      const code = 'print(input())';
      expect((await session.run({ code, stdin: 'a\nb\n' })).stdout).toBe('a\n');
      expect((await session.run({ code, stdin: 'c\n' })).stdout).toBe('c\n');
      expect((await session.run({ code })).stderr).toContain('EOFError');
    }));

  test('outlives an exception, an exit, a lack of memory and an interrupt', () =>
    inSession(async (session) => {
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

  test('shows where a program was when it was interrupted', () =>
    inSession(async (session) => {
      const run = await session.run({
        code: 'print("begun")\nwhile True: pass',
        limits: { wallS: 0.3 },
      });
      expect(run.stdout).toBe('begun\n');
      expect(run.stderr).toContain('File "main.py", line 2');
      expect(run.stderr).toMatch(/KeyboardInterrupt\n$/);
    }));

  test.each([
    ['ignores interrupts', 'while True:\n  try:\n    while True: pass\n  except: pass', 'timeout'],
    ['floods its output', 'while True: print("a" * 10000)', 'output_limit'],
    ['leaves without goodbye', 'import os\nos._exit(0)', 'ok'],
    ['breaks the interpreter', 'import os\nos.abort()', 'crashed'],
  ])('ends with a program that %s, and starts anew', async (_, code, status) => {
    await inSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const limits = status === 'timeout' ? { wallS: 0.5 } : {};
      expect(await session.run({ code, limits })).toMatchObject({ status, alive: false });
      expect((await session.run({ code: 'print("x" in globals())' })).stdout).toBe('False\n');
    });
  });

  test('ends when its programs have run as long as they may together', () =>
    inSession(
      async (session) => {
        const code = 'x = 1\nprint("here")\nwhile True: pass';
        expect(await session.run({ code, limits: { wallS: 0.4 } })).toMatchObject({
          status: 'timeout',
          alive: true,
        });
        const second = await session.run({ code });
        expect(second).toMatchObject({ status: 'timeout', stdout: 'here\n', alive: false });
        expect(second.message).toBe('the programs of the session used up their 8 s together');
        expect(second.wallMs).toBeGreaterThan(300);
        expect(await session.run({ code: 'print(1)' })).toMatchObject({
          status: 'timeout',
          stdout: '',
          message: second.message,
          alive: false,
        });
      },
      { totalWallS: 8 },
    ));

  test('has one disk quota for all of its programs', () =>
    inSession(async (session) => {
      const write = (name: string): string => `open("${name}", "wb").write(bytes(20 << 20))`;
      expect(await session.run({ code: write('a') })).toMatchObject({ status: 'ok' });
      expect(await session.run({ code: write('b') })).toMatchObject({ status: 'disk_limit' });
      expect(await session.run({ code: 'print(1)' })).toMatchObject({ status: 'ok', alive: true });
    }));

  test('runs one program at a time, in the order they were given', () =>
    inSession(async (session) => {
      await session.run({ code: 'x = []' });
      const codes = ['import time\ntime.sleep(0.1)\nx.append(1)', 'x.append(2)', 'print(x)'];
      const runs = await Promise.all(codes.map((code) => session.run({ code })));
      expect(runs.map(({ stdout }) => stdout)).toEqual(['', '', '[1, 2]\n']);
    }));

  test('repeats itself with its seed', async () => {
    const outputs: string[] = [];
    for (const seed of [1, 1, 2]) {
      await inSession(
        async (session) => {
          await session.run({ code: 'import random' });
          outputs.push((await session.run({ code: 'print(random.random())' })).stdout);
        },
        { seed },
      );
    }
    expect(outputs[1]).toBe(outputs[0]);
    expect(outputs[2]).not.toBe(outputs[0]);
  });

  test('sees nothing of another one', () =>
    inSession(async (first) => {
      await first.run({ code: 'import builtins\nbuiltins.mark = 1\nopen("mark", "w").close()' });
      await first.close();
      await inSession(async (second) => {
        const look =
          'import builtins, os\nprint(hasattr(builtins, "mark"), os.path.exists("mark"))';
        expect((await second.run({ code: look })).stdout).toBe('False False\n');
      });
    }));

  test('lives beside more of its kind than there are workers, and beside a program', () =>
    inSession(async (first) => {
      await first.run({ code: 'x = 1' });
      await inSession(async (second) => {
        await inSession(async (third) => {
          await Promise.all([second, third].map((each, i) => each.run({ code: `x = ${i + 2}` })));
          expect((await sandbox().execute({ kind: 'run', code: 'print("beside")' })).stdout).toBe(
            'beside\n',
          );
          const runs = [first, second, third].map((each) => each.run({ code: 'print(x)' }));
          const printed = (await Promise.all(runs)).map(({ stdout }) => stdout);
          expect(printed).toEqual(['1\n', '2\n', '3\n']);
        });
      });
    }));

  test('waits no longer when it is cancelled or closed', () =>
    inSession(async (first) => {
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
    inSession(async (session) => {
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
      process.kill(own[0] ?? 0, 'SIGKILL');
      expect(await running).toMatchObject({ status: 'sandbox_error', alive: false });
    });
  });

  onLinux('leaves no process behind, however it ends', async () => {
    const before = children();
    const other = await PyodideSandbox.start({ workers: 2 });
    const sessions = [other.openSession(), other.openSession()];
    await Promise.all(sessions.map((session) => session.run({ code: 'x = 1' })));
    expect(children()).toHaveLength(before.length + 4);
    await sessions[0]?.close();
    expect(children()).toHaveLength(before.length + 3);
    const running = sessions[1]?.run({ code: 'while True: pass' });
    await other.close();
    expect(await running).toMatchObject({ status: 'sandbox_error', alive: false });
    expect(children()).toEqual(before);
  });
});
