import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import type { Sandbox, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import { type Asking, passes } from './asking.ts';

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');
const half = '\ud800';

/** How a backend runs programs and calls, and what it does with bad input. */
export function programs(sandbox: () => Sandbox, { run, calls, judge }: Asking): void {
  describe('given a program', () => {
    test('runs it as Python does', async () => {
      const code = 'import sys\nprint(__name__, input(), 1/2)\nsys.exit(3)';
      const result = await run(code, { stdin: 'hi\n' });
      expect(result).toMatchObject({ status: 'error', exitCode: 3, stdout: '__main__ hi 0.5\n' });
      expect(result.level).toBe(sandbox().capabilities().level);
      expect(await run('')).toMatchObject({ status: 'ok', exitCode: 0, stdout: '', stderr: '' });
    });

    test.each([
      ['exit()', 0, '', ''],
      ['quit(3)', 3, '', ''],
      ['exit("bye")', 1, '', 'bye\n'],
      ['def f():\n    quit()\nf()', 0, '', ''],
      ['print(callable(help), bool(license))', 0, 'True True\nafter\n', ''],
      ['print(exit)', 0, 'Use exit() or Ctrl-D (i.e. EOF) to exit\nafter\n', ''],
    ])('has the built-ins of `python main.py`: %s', async (code, exitCode, stdout, stderr) => {
      const ended = await run(`print("before", end="")\n${code}\nprint("after")`);
      const status = exitCode === 0 ? 'ok' : 'error';
      expect(ended).toMatchObject({ status, exitCode, stdout: `before${stdout}`, stderr });
    });

    test('reads it behind a byte order mark', async () => {
      const code = '\uFEFFdef f(x): return x + 1\nprint(1)';
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '1\n', stderr: '' });
      expect((await run('\uFEFF1/0')).stderr).toContain('line 1, in <module>\n    1/0');
      expect((await calls(code, 'f', [[1]])).results).toEqual([{ ok: true, value: 2 }]);
      expect(passes(await judge(code, ['assert f(1) == 2']))).toEqual([true]);
      expect((await run('print(1)\n\uFEFF')).stderr).toContain('U+FEFF');
    });

    test("shows a traceback with the program's own lines only", async () => {
      const { status, stderr } = await run('def f():\n    return 1/0\nf()');
      expect(status).toBe('error');
      expect(stderr).toMatch(
        /^Traceback[^\n]*\n  File "main.py", line 3, in <module>\n[^]*File "main.py", line 2, in f\n[^]*ZeroDivisionError: division by zero\n$/,
      );
      expect(stderr).not.toMatch(/harness|entries/);
    });

    test('hands it standard input as UTF-8, up to 10 MB', async () => {
      const code = 'import sys\ntext = sys.stdin.read()\nprint(len(text), ascii(text[-3:]))';
      for (const [stdin, stdout] of [
        [`${'x'.repeat(10_000_000)}end`, "10000003 'end'\n"],
        [`a${half}b`, "3 'a\\ufffdb'\n"],
        ['a\0b', "3 'a\\x00b'\n"],
      ] as const)
        expect(await run(code, { stdin })).toMatchObject({ status: 'ok', stdout });
    });

    test('keeps the first 64 KiB of its output as text and counts the rest', async () => {
      const cut = await run('print("é" * 50000)');
      expect(cut).toMatchObject({ status: 'ok', truncated: true, stdoutBytes: 100_001 });
      expect(cut.stdout).toBe('é'.repeat(32_768));
      const flood = await run('while True: print("x" * 999)');
      expect(flood).toMatchObject({ status: 'output_limit', truncated: true });
      expect(flood.stdout).toHaveLength(65_536);
      expect(flood.stdoutBytes).toBeGreaterThan(4 * 1024 * 1024);
      const code = 'import sys\nsys.stdout.buffer.write(b"a\\xff\\xfe\\x00b\\xe2\\x80\\xa8")';
      expect((await run(code)).stdout).toBe('a\ufffd\ufffd\0b\u2028');
    });

    test('repeats its random results with the seed', async () => {
      const code =
        'import os, random, secrets, uuid\nprint(random.random(), os.urandom(4).hex(), secrets.token_hex(8), uuid.uuid4(), hash("a"), {"a", "b", "c"}, object())';
      const seeds = [7, 7, 8];
      const [one, same, other] = await Promise.all(seeds.map((seed) => run(code, { seed })));
      expect(one?.status).toBe('ok');
      expect(one?.stdout).toBe(same?.stdout);
      expect(one?.stdout).not.toBe(other?.stdout);
    });

    test('ends it when it is aborted, running or waiting', async () => {
      const [running, waiting] = [new AbortController(), new AbortController()];
      const endless = (abort: AbortController) =>
        sandbox().execute({ kind: 'run', code: 'while True: pass' }, abort.signal);
      const [first, second, third] = [endless(running), endless(running), endless(waiting)];
      waiting.abort(new Error('left the queue'));
      await expect(third).rejects.toThrow('left the queue');
      setTimeout(() => running.abort(new Error('enough')), 200);
      await expect(first).rejects.toThrow('enough');
      await expect(second).rejects.toThrow('enough');
      expect(await run('print(1)')).toMatchObject({ status: 'ok' });
    });

    test('answers many requests at once, each with its own result', async () => {
      const runs = Array.from({ length: 24 }, (_, i) =>
        run(`print(${i} * 2, input())`, { stdin: `${i}\n` }),
      );
      const stdouts = (await Promise.all(runs)).map(({ stdout }) => stdout);
      expect(stdouts).toEqual(runs.map((_, i) => `${2 * i} ${i}\n`));
    });
  });

  describe('given bad input', () => {
    let session: SandboxSession;
    beforeAll(() => {
      session = sandbox().openSession();
    });
    afterAll(async () => {
      await session.close();
      expect(await run('print("healthy")')).toMatchObject({ status: 'ok', stdout: 'healthy\n' });
    });
    const ran = {
      run,
      calls: (code: string) => calls(code, 'f', [[1]]),
      judge: (code: string) => judge(code, ['f(1)']),
      session: (code: string) => session.run({ code }),
    };
    const ways = Object.entries(ran);

    // A judge may end the solution before it reports its error.
    const reporting = ways.filter(([way]) => way !== 'judge');
    test.each(reporting)('shows the error of Python for code it refuses, by %s', async (_, way) => {
      for (const [code, error] of [
        ['x = "a\0b"', /SyntaxError|ValueError/],
        [`x = "${half}"`, /UnicodeEncodeError/],
        ['def f(:', /SyntaxError/],
        ['\tif', /IndentationError/],
      ] as const) {
        const { status, exitCode, stderr } = await way(code);
        expect([status, exitCode]).toEqual(['error', 1]);
        expect(stderr).toMatch(error);
      }
    });

    test.each(ways)('runs half a megabyte of code by %s', async (_, way) => {
      const code = `def f(x): return x\n${`#${'x'.repeat(99)}\n`.repeat(5000)}print("read")`;
      expect(await way(code)).toMatchObject({ status: 'ok', stdout: 'read\n' });
    });

    test('fails each call of an entry that is not a function', async () => {
      for (const entry of ['', 'absent', 'x', 'A.absent', '__builtins__', half]) {
        const problem = `NameError: the program defines no function named ${entry}`;
        const failed = { ok: false, problem };
        const { status, results } = await calls('class A: pass\nx = 1', entry, [[], []]);
        expect({ status, results }).toEqual({ status: 'ok', results: [failed, failed] });
      }
    });

    test('fails tests that are not Python, and gives no verdict without tests', async () => {
      for (const statement of ['a\0b', 'def', half])
        expect(passes(await judge('f = 1', [statement]))).toEqual([false]);
      expect(await judge('f = 1', [])).toMatchObject({ status: 'ok', verdicts: [] });
    });
  });

  describe('given files', () => {
    test('puts them into the working folder, byte for byte, and the next run finds none', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      const pack = { 'pack/__init__.py': '', 'pack/mod.py': base64('two = 2') };
      const files = { 'a b/é.txt': base64('one'), raw: base64(bytes), empty: '', ...pack };
      const code =
        'from pack.mod import two\nopen("empty", "a").write("more")\nprint(open("a b/é.txt").read(), list(open("raw", "rb").read()) == list(range(256)), open("empty").read(), two)';
      expect((await run(code, { files })).stdout).toBe('one True more 2\n');
      const { stdout, stderr } = await run('import os\nprint(os.listdir("."))\nimport pack');
      expect(stdout).not.toMatch(/raw|pack|empty/);
      expect(stderr).toMatch(/ModuleNotFoundError/);
    });

    test('puts a file of any name there, even the name of a property of all objects', async () => {
      const names = ['__proto__', 'constructor', 'toString'];
      const files = Object.fromEntries(names.map((each) => [each, base64(`in ${each}`)]));
      const code = `import os\nprint([open(each).read() for each in ${JSON.stringify(names)} if each in os.listdir(".")])`;
      const stdout = "['in __proto__', 'in constructor', 'in toString']\n";
      expect(await run(code, { files })).toMatchObject({ status: 'ok', stdout });
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '[]\n' });
    });

    test("lets a program import its own modules and none of the sandbox's", async () => {
      const names = ['kernel', 'loop', 'limits', 'box', 'entries', 'walls'];
      const files = Object.fromEntries(names.map((each) => [`${each}.py`, base64('own = 1')]));
      const importing = `import ${names.join(', ')}\nprint(${names.map((each) => `${each}.own`).join(' + ')})`;
      expect(await run(importing, { files })).toMatchObject({ status: 'ok', stdout: '6\n' });
      const ours = [...names, 'jail', 'main', 'supervisor', 'walls.jail'];
      const code = `import importlib, sys
for name in ${JSON.stringify(ours)}:
    try: importlib.import_module(name)
    except ModuleNotFoundError: continue
    print("imported", name)
print([name for name in sys.modules if name.split(".")[0] in ("child", "template", "walls", "zygote")])`;
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '[]\n' });
    });
  });

  describe('given calls', () => {
    test('calls a function, and a method of a fresh instance', async () => {
      const code =
        'class S:\n    def __init__(self): self.n = 0\n    def add(self, x):\n        self.n += x\n        return (self.n, {1: [x]})';
      expect((await calls(code, 'S.add', [[1], [2]])).results).toEqual([
        { ok: true, value: { $tuple: [1, { $dict: [[1, [1]]] }] } },
        { ok: true, value: { $tuple: [2, { $dict: [[1, [2]]] }] } },
      ]);
    });

    test('says why a call has no value', async () => {
      const code =
        'import sys\ndef f(x):\n    a = []\n    a.append(a)\n    if x == 1: return x / 0\n    if x == 2: return object()\n    if x == 3: return a\n    if x == 4: sys.exit(0)\n    return x / 2';
      const { results } = await calls(code, 'f', [[1], [2], [3], [4], [5]]);
      const problems = [
        'ZeroDivisionError: division by zero',
        'ValueError: returned a value of type object, which is not plain data',
        'ValueError: returned a value that contains itself',
        'SystemExit: 0',
      ];
      const failed = problems.map((problem) => ({ ok: false, problem }));
      expect(results).toEqual([...failed, { ok: true, value: { $float: '2.5' } }]);
    });

    test('carries odd and deeply nested values to a function and back', async () => {
      const nested = (wrap: (value: PythonValue) => PythonValue) =>
        Array.from({ length: 100 }).reduce<PythonValue>(wrap, 1);
      const values: PythonValue[] = [
        `a${half}b`,
        '\0',
        { $dict: [] },
        { $int: '1'.repeat(5000) },
        nested((value) => [value]),
        nested((value) => ({ $tuple: [value] })),
        nested((value) => ({ $frozenset: [value] })),
        nested((value) => ({ $dict: [['k', value]] })),
      ];
      const args = values.map((value) => [value]);
      const { results } = await calls('def f(x): return x', 'f', args);
      expect(results).toEqual(values.map((value) => ({ ok: true, value })));
    });

    test('keeps the results of the calls before a call that does not return', async () => {
      const code = 'def f(x):\n    while x > 1: pass\n    return x';
      expect(await calls(code, 'f', [[1], [2], [1]], { wallS: 1 })).toMatchObject({
        status: 'timeout',
        results: [{ ok: true, value: 1 }],
      });
    });
  });
}
