import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import type { RunResult, SandboxFiles, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const half = '\ud800';

/** Every way to run a program. */
const ways = ['run', 'calls', 'judge', 'session'] as const;

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');

describe('A sandbox of one worker', () => {
  const sandbox = startedSandbox();
  const printed = async (code: string, more = {}): Promise<string> =>
    (await sandbox().execute({ kind: 'run', code, ...more })).stdout;

  test('shows what a program prints, its exit code and where it ran', async () => {
    expect(
      await sandbox().execute({ kind: 'run', code: 'print(input()[::-1])', stdin: 'abc\n' }),
    ).toMatchObject({
      status: 'ok',
      exitCode: 0,
      stdout: 'cba\n',
      stderr: '',
      truncated: false,
      level: expect.stringMatching(/^pyodide:permission/) as unknown,
    });
    expect(await sandbox().execute({ kind: 'run', code: 'import sys; sys.exit(3)' })).toMatchObject(
      {
        status: 'error',
        exitCode: 3,
      },
    );
  });

  test('prints any text, and runs an empty program', async () => {
    expect(await sandbox().execute({ kind: 'run', code: '' })).toMatchObject({
      status: 'ok',
      stdout: '',
    });
    expect(await printed('print("line\u2028separator é 😀")')).toBe('line\u2028separator é 😀\n');
  });

  test('caps what it keeps of the output and counts the rest', async () => {
    const run = await sandbox().execute({ kind: 'run', code: 'print("é" * 50000)' });
    expect(run).toMatchObject({ status: 'ok', truncated: true, stdoutBytes: 100_001 });
    expect(run.stdout).toBe('é'.repeat(32_768));
  });

  test('is the same again for every program', async () => {
    const marks = `import builtins, json, os, sys
builtins.mark = json.mark = 1
os.environ['MARK'] = '1'
open('/tmp/mark', 'w').write('x')
os.chdir('/tmp')
sys.setrecursionlimit(50)
json.dumps = None
class Later:
    def __del__(self): print('late')
kept = Later()
junk = bytearray(b'CARRIED-OVER' * 1000)`;
    const look = `import builtins, json, os, sys
print(hasattr(builtins, 'mark'), hasattr(json, 'mark'), 'MARK' in os.environ, os.path.exists('/tmp/mark'), os.getcwd(), json.dumps([1]), 'kept' in globals())`;
    const clean = 'False False False False / [1] False\n';
    const before = await printed(look);
    await sandbox().execute({ kind: 'run', code: marks });
    expect([
      before.replace('/home/pyodide', '/').replace('/home', '/'),
      await printed(look),
    ]).toEqual([clean, before]);
  });

  test('keeps nothing of an earlier program in its memory', async () => {
    await sandbox().execute({
      kind: 'run',
      code: `secret = '-'.join(['EARLIER', 'PROGRAM']) * 5000\nprint(len(secret))`,
    });
    const scan = `import ctypes
memory = ctypes.string_at(1024, 40 << 20)
needle = bytes(reversed(b'MARGORP-REILRAE'))
print(memory.count(needle * 3))`;
    expect(await printed(scan)).toBe('0\n');
  });

  test('forgets a base file that a program changed', async () => {
    const path = '__import__("json").__file__';
    const edit = `import sys\np = [f for f in sys.path if f][0]\nopen('/home/x.py', 'w').write('x = 1')\nprint(${path})`;
    await sandbox().execute({ kind: 'run', code: edit });
    expect(await printed('import os; print(os.path.exists("/home/x.py"))')).toBe('False\n');
  });

  test('repeats a program bit for bit with its seed, on any instance', async () => {
    const code =
      'import random, os, uuid, secrets\nprint(random.random(), os.urandom(4).hex(), uuid.uuid4(), random.Random().random(), id(object()), hash("a"), {"b", "a", "c"})';
    const first = await printed(code, { seed: 7 });
    expect(await printed(code, { seed: 7 })).toBe(first);
    expect(await printed(code, { seed: 8 })).not.toBe(first);
    await printed('import js'); // ends the instance
    expect(await printed(code, { seed: 7 })).toBe(first);
  });

  test('gives what calls return as tagged values, made from the base types alone', async () => {
    const code = `class Liar(int):
    def __eq__(self, other): return True
    def __repr__(self): return '5'
    __hash__ = int.__hash__
class Key(str):
    def __repr__(self): return 'x'
def f(x):
    return [x, Liar(3), {Key('a'): (1, 2.0)}, {b'z'}, 10**20, float('nan'), None, True]`;
    const run = await sandbox().execute({
      kind: 'calls',
      code,
      entry: 'f',
      args: [[{ $tuple: [1, 'é'] }]],
    });
    expect(run.results).toEqual([
      {
        ok: true,
        value: [
          { $tuple: [1, 'é'] },
          3,
          { $dict: [['a', { $tuple: [1, { $float: '2.0' }] }]] },
          { $set: [{ $bytes: 'eg==' }] },
          { $int: '100000000000000000000' },
          { $float: 'nan' },
          null,
          true,
        ],
      },
    ]);
  });

  test('says why a call has no value', async () => {
    const problems = async (code: string): Promise<unknown[]> =>
      (await sandbox().execute({ kind: 'calls', code, entry: 'f', args: [[1]] })).results.map(
        (result) => (result.ok ? result.value : result.problem),
      );
    expect(await problems('def f(x): return x / 0')).toEqual([
      'ZeroDivisionError: division by zero',
    ]);
    expect(await problems('def g(x): return x')).toEqual([
      'NameError: the program defines no function named f',
    ]);
    expect(await problems('def f(x): return object()')).toEqual([
      'ValueError: returned a value of type object, which is not plain data',
    ]);
    expect(await problems('def f(x):\n a = []\n a.append(a)\n return a')).toEqual([
      'ValueError: returned a value that contains itself',
    ]);
    expect(await problems('import sys\ndef f(x): sys.exit(0)')).toEqual(['SystemExit: 0']);
  });

  test('serves first come, first served, and waiting does not count against a deadline', async () => {
    const done: number[] = [];
    const busy = (i: number): Promise<unknown> =>
      sandbox()
        .execute({
          kind: 'run',
          code: 'import time\nt=time.time()\nwhile time.time()-t<0.1: pass\nprint("x")',
          limits: { wallS: 1 },
        })
        .then((run) => {
          done.push(i);
          return run.status;
        });
    const all = await Promise.all(Array.from({ length: 6 }, (_, i) => busy(i)));
    expect(all).toEqual(Array.from({ length: 6 }, () => 'ok'));
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });

  test('stops waiting or running when it is cancelled', async () => {
    const running = new AbortController();
    const waiting = new AbortController();
    const first = sandbox().execute({ kind: 'run', code: 'while True: pass' }, running.signal);
    const second = sandbox().execute({ kind: 'run', code: 'print(1)' }, waiting.signal);
    waiting.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    running.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect(await printed('print("next")')).toBe('next\n');
  });

  test('refuses a number of workers that it cannot start', async () => {
    await expect(PyodideSandbox.start({ workers: 0 })).rejects.toThrow('allowed are 1 to 256');
  });

  test('stays right over 300 mixed programs', async () => {
    const programs = [
      ['print(sum(range(1000)))', '499500\n'],
      ['import re; print(re.findall("b+", "abbb"))', "['bbb']\n"],
      ['1/0', ''],
      ['x = [bytearray(1 << 20) for _ in range(20)]; print(len(x))', '20\n'],
      ['open("a", "w").write("hello"); print(open("a").read())', 'hello\n'],
      ['import os; print(os.path.exists("a"))', 'False\n'],
      ['import random; random.seed(1); print(round(random.random(), 6))', '0.134364\n'],
      ['def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(900))', '900\n'],
      ['from decimal import Decimal; print(Decimal(1) / 8)', '0.125\n'],
      ['import builtins; builtins.len = None', ''],
    ] as const;
    const outputs: string[] = [];
    for (let i = 0; i < 300; i++) outputs.push(await printed(programs[(i * 7) % 10]?.[0] ?? ''));
    expect(outputs).toEqual(outputs.map((_, i) => programs[(i * 7) % 10]?.[1]));
  });

  describe('given odd input', () => {
    let session: SandboxSession;
    beforeAll(() => {
      session = sandbox().openSession();
    });
    afterAll(() => session.close());
    afterEach(async () => {
      if ((await printed('print(6 * 7)')) !== '42\n') throw new Error('The sandbox is broken.');
    });

    const ran = (way: (typeof ways)[number], code: string): Promise<RunResult> => {
      if (way === 'session') return session.run({ code });
      if (way === 'calls')
        return sandbox().execute({ kind: 'calls', code, entry: 'f', args: [[1]] });
      if (way === 'judge')
        return sandbox().execute({ kind: 'judge', code, tests: { statements: ['f(1)'] } });
      return sandbox().execute({ kind: 'run', code });
    };

    test.each(ways)('ends %s by an error of Python where Python refuses the code', async (way) => {
      for (const [code, error] of [
        ['x = "a\0b"', 'SyntaxError'],
        [`x = "${half}"`, 'UnicodeEncodeError'],
        ['def f(:', 'SyntaxError'],
        ['\tif', 'IndentationError'],
      ] as const) {
        const { status, exitCode, stderr } = await ran(way, code);
        expect([status, exitCode]).toEqual(['error', 1]);
        expect(stderr).toContain(error);
      }
    });

    test.each(ways)('runs half a megabyte of code by %s', async (way) => {
      const code = `${'def f(x): return x\n'.repeat(25_000)}print("read")`;
      expect(await ran(way, code)).toMatchObject({ status: 'ok', stdout: 'read\n' });
    });

    test('hands standard input to the program as UTF-8', async () => {
      const code = 'import sys\ntext = sys.stdin.read()\nprint(len(text), ascii(text))';
      for (const [stdin, stdout] of [
        [`a${half}b`, "3 'a\\ufffdb'\n"],
        ['a\0b', "3 'a\\x00b'\n"],
      ] as const) {
        expect(await printed(code, { stdin })).toBe(stdout);
      }
    });

    test('hands arguments to the function as they are, and gets them back', async () => {
      const args = [[`a${half}b`], ['\0'], [{ $dict: [] }], [{ $int: '1'.repeat(5000) }]];
      const call = { code: 'def f(x): return x', entry: 'f', args };
      const { results } = await sandbox().execute({ kind: 'calls', ...call });
      expect(results).toEqual(args.map(([value]) => ({ ok: true, value })));
    });

    test('fails each call of an entry that is not a function', async () => {
      for (const entry of ['', 'absent', 'x', 'A.absent', '__builtins__', half]) {
        const problem = `NameError: the program defines no function named ${entry}`;
        const call = { code: 'class A: pass\nx = 1', entry, args: [[], []] };
        expect(await sandbox().execute({ kind: 'calls', ...call })).toMatchObject({
          status: 'ok',
          results: [
            { ok: false, problem },
            { ok: false, problem },
          ],
        });
      }
    });

    test('fails tests that are not Python, and has no verdict where there are none', async () => {
      const judged = async (...statements: string[]) =>
        await sandbox().execute({ kind: 'judge', code: 'f = 1', tests: { statements } });
      for (const statement of ['a\0b', 'def', half]) {
        expect(await judged(statement)).toMatchObject({
          status: 'ok',
          verdicts: [{ passed: false }],
        });
      }
      expect(await judged()).toMatchObject({ status: 'ok', verdicts: [] });
    });

    test('replaces bytes of the output that are not text, and ends endless output', async () => {
      const bytes = 'import sys\nsys.stdout.buffer.write(bytes(range(256)) * 4)';
      const raw = await sandbox().execute({ kind: 'run', code: bytes });
      expect(raw).toMatchObject({ status: 'ok', stdoutBytes: 1024 });
      expect(raw.stdout.startsWith('\0\x01\x02')).toBe(true);
      expect(raw.stdout).toContain('\x7f\ufffd');
      const unprintable = await sandbox().execute({ kind: 'run', code: 'print("\\ud800")' });
      expect(unprintable).toMatchObject({ status: 'error', stdout: '' });
      expect(unprintable.stderr).toContain('UnicodeEncodeError');
      const endless = await sandbox().execute({
        kind: 'run',
        code: 'while True: print("x" * 100)',
      });
      expect(endless).toMatchObject({ status: 'output_limit', truncated: true });
      expect(endless.stdout).toHaveLength(65_536);
    });
  });

  describe('given files', () => {
    const ran = (code: string, files: SandboxFiles): Promise<RunResult> =>
      sandbox().execute({ kind: 'run', code, files });

    test('has them in the working folder before the program starts, byte for byte', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      const run = await ran(
        'print(open("a b/é.txt").read(), list(open("raw", "rb").read()) == list(range(256)), len(open("empty").read()))',
        { 'a b/é.txt': base64('hello'), raw: base64(bytes), empty: '' },
      );
      expect(run).toMatchObject({ status: 'ok', stdout: 'hello True 0\n' });
    });

    test('lets a program import them and write to them', async () => {
      const files = { 'pack/__init__.py': '', 'pack/mod.py': base64('x = 7'), note: base64('a') };
      const code =
        'import sys\nsys.path.insert(0, ".")\nfrom pack.mod import x\nopen("note", "a").write("b")\nprint(x, open("note").read())';
      expect((await ran(code, files)).stdout).toBe('7 ab\n');
    });

    test('has none of them in the next run', async () => {
      await ran('pass', { 'folder/file': base64('x') });
      const look = 'import os\nprint(os.path.exists("folder"), os.listdir("."))';
      const before = (await ran(look, {})).stdout;
      expect(before).toMatch(/^False/);
      await ran('pass', { 'folder/file': base64('x') });
      expect((await ran(look, {})).stdout).toBe(before);
    });

    test('counts them against the disk quota', async () => {
      const large = base64(Buffer.alloc(20 << 20));
      const over = await ran('open("b", "wb").write(bytes(20 << 20))', { a: large });
      expect(over.status).toBe('disk_limit');
      expect(over.stderr).toContain('OSError');
      const both = await ran('print(1)', { a: large, b: large });
      expect(both).toMatchObject({ status: 'disk_limit', stdout: '' });
      const many = Array.from({ length: 2100 }, (_, i) => [`f${i}`, ''] as const);
      expect((await ran('print(1)', Object.fromEntries(many))).status).toBe('disk_limit');
      expect((await ran('print(2)', {})).stdout).toBe('2\n');
    });

    test.each<[string, SandboxFiles]>([
      ['a file of 33 MiB', { a: base64(Buffer.alloc(33 << 20)) }],
      ['3,000 files', Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, '']))],
    ])('refuses %s and says how much the disk quota is', async (_name, files) => {
      expect(await ran('print(1)', files)).toMatchObject({
        status: 'disk_limit',
        message:
          "the program's files could not be put in place: ENOSPC (Emscripten's errno 51); at most 32 MiB and 2048 files and folders are allowed",
      });
    });
  });
});
