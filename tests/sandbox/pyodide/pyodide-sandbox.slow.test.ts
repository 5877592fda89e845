import { describe, expect, test } from '@jest/globals';

import type { SandboxFiles, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import { channelProbes } from '#agent_rl/sandbox/probes/escape-probes.ts';
import { probeProgram } from '#agent_rl/sandbox/probes/probe-escapes.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { descendants } from '#tests/support/descendants.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { sandboxContract } from '#tests/support/sandbox-contract.ts';
import { type Asking, passes } from '#tests/support/sandbox-contract/asking.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;
const gone = { passed: false, problem: 'SolutionEnded: the solution ended early' };

sandboxContract(
  'pyodide',
  () => PyodideSandbox.start({ workers: 2 }),
  (_, ask) => {
    isFresh(ask);
    boundsFiles(ask);
    judges(ask);
    keepsSessions(ask);
  },
);

function isFresh({ run }: Asking): void {
  const printed = async (code: string, more = {}) => (await run(code, more)).stdout;

  test('refuses a number of workers that it cannot start', async () => {
    const started = PyodideSandbox.start({ workers: 0 });
    await expect(started).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test("keeps nothing of another program's memory", async () => {
    await run(`secret = '-'.join(['EARLIER', 'PROGRAM']) * 5000\nprint(len(secret))`);
    const scan = `import ctypes
memory = ctypes.string_at(1024, 40 << 20)
needle = bytes(reversed(b'MARGORP-REILRAE'))
print(memory.count(needle * 3))`;
    expect(await printed(scan)).toBe('0\n');
  });

  test('repeats a program bit for bit on any instance', async () => {
    const code = 'import random\nprint(random.Random().random(), id(object()))';
    const first = await printed(code, { seed: 7 });
    await run('import js'); // ends the instance
    expect(await printed(code, { seed: 7 })).toBe(first);
  });

  test('gives the right results over 300 mixed programs', async () => {
    const programs = [
      ['import re; print(re.findall("b+", "abbb"))', "['bbb']\n"],
      ['1/0', ''],
      ['x = [bytearray(1 << 20) for _ in range(20)]; print(len(x))', '20\n'],
      ['open("a", "w").write("hello"); print(open("a").read())', 'hello\n'],
      ['import os; print(os.path.exists("a"))', 'False\n'],
      ['import random; random.seed(1); print(round(random.random(), 6))', '0.134364\n'],
      ['import builtins; builtins.len = None', ''],
    ] as const;
    const ran = Array.from({ length: 300 }, (_, i) => programs[(i * 5) % 7]!);
    const outputs = await Promise.all(ran.map(([code]) => printed(code)));
    expect(outputs).toEqual(ran.map(([, output]) => output));
  });
}

function boundsFiles({ run }: Asking): void {
  const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

  test.each<[string, SandboxFiles, string]>([
    ['40 MiB in two files', { a: base64(20 << 20), b: base64(20 << 20) }, 'print(1)'],
    ['20 MiB that the program writes to 20 MiB', { a: base64(20 << 20) }, 'write(20 << 20)'],
    ['33 MiB in one file', { a: base64(33 << 20) }, 'print(1)'],
    ['3,000 files', Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, ''])), '1'],
  ])('counts files against the disk quota: %s', async (_, files, code) => {
    const write = 'def write(size): open("b", "wb").write(bytes(size))';
    const { status, stdout, stderr, message } = await run(`${write}\n${code}`, { files });
    expect({ status, stdout }).toEqual({ status: 'disk_limit', stdout: '' });
    expect(message ?? stderr).toMatch(/ENOSPC .*32 MiB and 2048 files|OSError/);
    expect((await run('print(2)')).stdout).toBe('2\n');
  });
}

function judges({ run, calls, judge }: Asking): void {
  test('bounds the memory of a judged program', async () => {
    const bomb = 'x = []\n    while True: x.append(bytearray(20 << 20))';
    const limits = { memoryMiB: 128 };
    const inCall = await judge(`def f(n):\n    ${bomb}`, ['assert f(1) == 1'], {}, limits);
    expect(inCall.verdicts).toEqual([{ passed: false, problem: 'MemoryError' }]);
    const atLoad = await judge(`if True:\n    ${bomb}`, ['assert 1'], {}, limits);
    expect(atLoad).toMatchObject({ status: 'memory_limit', verdicts: [{ passed: false }] });
  });

  test('repeats the random results of a judged program', async () => {
    const code = 'import random\ndef f(): return random.random(), random.Random().random()';
    const first = await judge(code, ['assert 0, f()']);
    const second = await judge(code, ['assert 0, f()']);
    expect(first.verdicts[0]?.problem).toMatch(/^AssertionError: \(0\.\d+, 0\.\d+\)$/);
    expect(second.verdicts).toEqual(first.verdicts);
  });

  test('gives a program that crashes no verdict but failures', async () => {
    const expectsAny = 'try:\n    f(1)\nexcept BaseException:\n    pass';
    const judged = await judge('import os\ndef f(x): os.abort()', [expectsAny, 'assert 1']);
    expect(judged).toMatchObject({ status: 'crashed', verdicts: [gone, gone] });
  });

  test.each([
    ['text that is not a message', 'os.write(3, b"garbage that is not a message")'],
    ['a message that is not JSON', 'os.write(3, b"\\0\\0\\0\\5hello")'],
    ['a message without meaning', 'os.write(3, b"\\0\\0\\0\\2{}")'],
    ['a message of a nonsensical length', 'os.write(3, b"\\xff" * 100)'],
    ['endless bytes', 'while True: os.write(3, b"\\0" * 65536)'],
    ['a channel it closed', 'os.close(3)'],
    ['a channel it reads itself', 'os.read(3, 10)'],
  ])('fails every test of a program with %s', async (_, misuse) => {
    const caught = 'try:\n    assert f(1) == 1\nexcept Exception:\n    pass';
    const statements = [caught, 'assert f(1) == 1', 'assert f(2) == 2'];
    const inCall = `import os\ndef f(x):\n    ${misuse}\n    return x`;
    for (const code of [inCall, `import os\n${misuse}\n${inCall}`]) {
      const judged = await judge(code, statements, {}, { wallS: 0.5 });
      expect(passes(judged)).toEqual([false, false, false]);
    }
  });

  test('gives a channel to programs that are judged or called, and to no others', async () => {
    const code = probeProgram(channelProbes, {});
    const { stdout } = await judge(code, ['assert 1']);
    expect(stdout).toContain('ESCAPED descriptor of a channel');
    expect(stdout).toContain('ESCAPED stream of a channel');
    expect((await run(code)).stdout).toBe('ALL PROBES TRIED\n');
    const called = await calls(code, 'print', []);
    expect(called.stdout).toContain('ESCAPED descriptor of a channel');
    expect(called).toMatchObject({ status: 'ok', results: [] });
  });
}

/** Waits until a program that was handed over runs. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function keepsSessions({ inSession }: Asking): void {
  const children = (): readonly number[] => descendants(process.pid);
  const lost = { status: 'sandbox_error', alive: false };

  describe('with a session of its own process', () => {
    test('ends a program that ignores interrupts with its session', () =>
      inSession(async (session) => {
        await session.run({ code: 'x = 1' });
        const code = 'while True:\n  try:\n    while True: pass\n  except: pass';
        const late = await session.run({ code, limits: { wallS: 0.5 } });
        expect(late).toMatchObject({ status: 'timeout', alive: false });
        expect((await session.run({ code: 'print("x" in globals())' })).stdout).toBe('False\n');
      }));

    test('bounds the disk of all its programs together', () =>
      inSession(async (session) => {
        const write = (name: string) => ({ code: `open("${name}", "wb").write(bytes(20 << 20))` });
        expect(await session.run(write('a'))).toMatchObject({ status: 'ok' });
        expect(await session.run(write('b'))).toMatchObject({ status: 'disk_limit' });
        expect(await session.run({ code: '1' })).toMatchObject({ status: 'ok', alive: true });
      }));

    test('stops starting it when it is aborted or closed', () =>
      inSession(async (cancelled) =>
        inSession(async (closed) => {
          const abort = new AbortController();
          const first = cancelled.run({ code: 'x' }, abort.signal);
          const second = closed.run({ code: 'x' });
          abort.abort(new Error('enough'));
          await expect(first).rejects.toThrow('enough');
          await closed.close();
          expect(await second).toMatchObject(lost);
        }),
      ));

    test('fails the programs of a closed session', () =>
      inSession(async (session) => {
        await session.run({ code: 'x = 1' });
        const running = session.run({ code: 'while True: pass' });
        await nextTurn();
        await session.close();
        expect(await running).toMatchObject(lost);
        expect(await session.run({ code: 'print(1)' })).toMatchObject(lost);
      }));

    onLinux('takes the blame when its interpreter is killed from outside', async () => {
      const before = children();
      await inSession(async (session) => {
        await session.run({ code: 'x = 1' });
        const own = children().filter((pid) => !before.includes(pid));
        expect(own).toHaveLength(1);
        const running = session.run({ code: 'while True: pass' });
        await nextTurn();
        killProcess(own[0]);
        expect(await running).toMatchObject(lost);
      });
    });

    onLinux('leaves no process behind, however the session ends', async () => {
      const before = children();
      const other = await PyodideSandbox.start({ workers: 1 });
      const sessions: SandboxSession[] = [other.openSession(), other.openSession()];
      await Promise.all(sessions.map((session) => session.run({ code: 'x = 1' })));
      expect(children()).toHaveLength(before.length + 3);
      await sessions[0]?.close();
      expect(children()).toHaveLength(before.length + 2);
      const running = sessions[1]?.run({ code: 'while True: pass' });
      await other.close();
      expect(await running).toMatchObject(lost);
      expect(children()).toEqual(before);
    });
  });
}
