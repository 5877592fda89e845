import { describe, expect, test } from '@jest/globals';

import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

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

  test('shows a traceback of the program alone', async () => {
    const { stderr } = await sandbox().execute({
      kind: 'run',
      code: 'def f():\n    return 1 / 0\nf()',
    });
    expect(stderr).toContain('File "main.py", line 2, in f');
    expect(stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
    expect(stderr).not.toContain('sandbox');
  });

  test('reports bad requests instead of running them', async () => {
    for (const code of [undefined, null, 42, 'x=1\n'.repeat(500_000)] as string[]) {
      expect((await sandbox().execute({ kind: 'run', code })).status).toBe('bad_request');
    }
  });

  test('takes odd text as Python does', async () => {
    expect(await sandbox().execute({ kind: 'run', code: '' })).toMatchObject({
      status: 'ok',
      stdout: '',
    });
    expect((await sandbox().execute({ kind: 'run', code: 'x = "a\0b"' })).status).toBe('error');
    expect(['ok', 'error']).toContain(
      (await sandbox().execute({ kind: 'run', code: 'print("\ud800x")' })).status,
    );
    expect(await printed('print("line\u2028separator é 😀")')).toBe('line\u2028separator é 😀\n');
    const bytes = 'import sys\nsys.stdout.buffer.write(b"\\xff\\x00ok")';
    expect(await printed(bytes)).toBe('\ufffd\0ok');
  });

  test('passes ten megabytes of input', async () => {
    const stdin = 'abcdefghi\n'.repeat(1_000_000);
    expect(await printed('import sys; print(len(sys.stdin.read()))', { stdin })).toBe('10000000\n');
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

  test('keeps the results of calls that returned before one that does not', async () => {
    const code = 'def f(x):\n  while x == 2: pass\n  return x';
    const run = await sandbox().execute({
      kind: 'calls',
      code,
      entry: 'f',
      args: [[1], [2], [3]],
      limits: { wallS: 2 },
    });
    expect(run).toMatchObject({ status: 'timeout', results: [{ ok: true, value: 1 }] });
  });

  test('serves first come, first served, and waiting costs nobody its deadline', async () => {
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
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => busy(i)));
    expect(all).toEqual(Array.from({ length: 12 }, () => 'ok'));
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
});
