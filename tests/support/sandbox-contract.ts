import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import type {
  AssertTests,
  CallsResult,
  JudgeResult,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionRequest,
} from '#agent_rl/core/services/sandbox.ts';
import { unhurried } from './sandbox-limits.ts';

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');
const half = '\ud800';
const stubborn = 'while True:\n    try:\n        while True: pass\n    except BaseException: pass';

/** Requests to a started sandbox, as its tests write them. */
export interface Asking {
  run: (code: string, more?: Omit<RunRequest, 'code'>) => Promise<RunResult>;
  calls: (
    code: string,
    entry: string,
    args: readonly unknown[][],
    limits?: SandboxLimits,
  ) => Promise<CallsResult>;
  judge: (
    code: string,
    statements: readonly string[],
    more?: Omit<AssertTests, 'statements'>,
    limits?: SandboxLimits,
  ) => Promise<JudgeResult>;
  /** Closes the session after the work, whatever happens. */
  inSession: (
    work: (session: SandboxSession) => Promise<void>,
    request?: SessionRequest,
  ) => Promise<void>;
}

export function asking(sandbox: () => Sandbox): Asking {
  return {
    run: (code, more) => sandbox().execute({ kind: 'run', code, ...more }),
    calls: (code, entry, args, limits = {}) =>
      sandbox().execute({ kind: 'calls', code, entry, args: args as PythonValue[][], limits }),
    judge: (code, statements, more = {}, limits = {}) =>
      sandbox().execute({ kind: 'judge', code, tests: { statements, ...more }, limits }),
    inSession: async (work, request) => {
      const session = sandbox().openSession(request);
      try {
        await work(session);
      } finally {
        await session.close();
      }
    },
  };
}

export const passes = ({ verdicts }: JudgeResult): boolean[] =>
  verdicts.map(({ passed }) => passed);

/**
 * The tests that every backend passes behind its layers, and then `own`, the tests of one backend, with the same sandbox.
 */
export function sandboxContract<Backend extends Sandbox>(
  name: string,
  start: () => Promise<Backend>,
  own?: (backend: () => Backend, ask: Asking) => void,
): void {
  describe(`The sandbox ${name}`, () => {
    let backend: Backend;
    let sandbox: Sandbox;
    beforeAll(async () => {
      backend = await start();
      sandbox = unhurried(backend);
    });
    afterAll(() => sandbox?.close());
    const ask = asking(() => sandbox);
    const { run, calls, judge, inSession } = ask;

    describe('given a program', () => {
      test('runs it as Python does', async () => {
        const code = 'import sys\nprint(__name__, input(), 1/2)\nsys.exit(3)';
        const result = await run(code, { stdin: 'hi\n' });
        expect(result).toMatchObject({ status: 'error', exitCode: 3, stdout: '__main__ hi 0.5\n' });
        expect(result.level).toBe(sandbox.capabilities().level);
        expect(await run('')).toMatchObject({ status: 'ok', exitCode: 0, stdout: '', stderr: '' });
      });

      test.each([
        ['exit()', { status: 'ok', exitCode: 0, stdout: 'before', stderr: '' }],
        ['quit(3)', { status: 'error', exitCode: 3, stdout: 'before', stderr: '' }],
        ['exit("bye")', { status: 'error', exitCode: 1, stdout: 'before', stderr: 'bye\n' }],
        ['def f():\n    quit()\nf()', { status: 'ok', exitCode: 0, stdout: 'before', stderr: '' }],
        [
          'print(callable(help), bool(license), exit)',
          {
            status: 'ok',
            stdout: 'beforeTrue True Use exit() or Ctrl-D (i.e. EOF) to exit\nafter\n',
          },
        ],
      ])('has the built-ins of `python main.py`: %s', async (code, end) => {
        expect(await run(`print("before", end="")\n${code}\nprint("after")`)).toMatchObject(end);
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
        const ask = (abort: AbortController) =>
          sandbox.execute({ kind: 'run', code: 'while True: pass' }, abort.signal);
        const [first, second, third] = [ask(running), ask(running), ask(waiting)];
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
        session = sandbox.openSession();
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

      test.each([null, 42, undefined, ['print(1)'], 'x = 1\n'.repeat(350_000)])(
        'refuses code that is not a text of at most 1 MiB (case %#)',
        async (code) => {
          const { status, stdout, message } = await run(code as string);
          expect({ status, stdout }).toEqual({ status: 'bad_request', stdout: '' });
          expect(message).toMatch(/^code /);
        },
      );

      test.each(['/etc/x', '../x', 'a/../../x', '', 'a//b', 'a\0b'])(
        'refuses the file %j',
        async (path) => {
          expect((await run('1', { files: { [path]: base64('x') } })).status).toBe('bad_request');
        },
      );

      // A judge may end the solution before it reports its error.
      const reporting = ways.filter(([name]) => name !== 'judge');
      test.each(reporting)(
        'shows the error of Python for code it refuses, by %s',
        async (_, way) => {
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
        },
      );

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
        const files = {
          'a b/é.txt': base64('one'),
          raw: base64(bytes),
          empty: '',
          'pack/__init__.py': '',
          'pack/mod.py': base64('two = 2'),
        };
        const code =
          'from pack.mod import two\nopen("empty", "a").write("more")\nprint(open("a b/é.txt").read(), list(open("raw", "rb").read()) == list(range(256)), open("empty").read(), two)';
        expect(await run(code, { files })).toMatchObject({
          status: 'ok',
          stdout: 'one True more 2\n',
        });
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
        const own = `import ${names.join(', ')}\nprint(${names.map((each) => `${each}.own`).join(' + ')})`;
        expect(await run(own, { files })).toMatchObject({ status: 'ok', stdout: '6\n' });
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
        expect(results).toEqual([
          { ok: false, problem: 'ZeroDivisionError: division by zero' },
          {
            ok: false,
            problem: 'ValueError: returned a value of type object, which is not plain data',
          },
          { ok: false, problem: 'ValueError: returned a value that contains itself' },
          { ok: false, problem: 'SystemExit: 0' },
          { ok: true, value: { $float: '2.5' } },
        ]);
      });

      test('carries odd and deeply nested values to a function and back', async () => {
        const nested = (wrap: (value: unknown) => unknown): unknown =>
          Array.from({ length: 100 }).reduce((value: unknown) => wrap(value), 1);
        const values = [
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

    describe('as a judge', () => {
      test('judges statements in order, in names of their own, and hides what they print', async () => {
        const code =
          'def double(x):\n    print("doubling")\n    return 2 * x\ndef sorted(x): return "mine"';
        const result = await judge(code, [
          'print("expected: 42")\nassert double(2) == 4',
          'kept = double(3)',
          'assert kept == 6',
          'assert double(1) == 3, "no"',
          'assert sorted([2, 1]) == [1, 2]',
        ]);
        const stdout = 'doubling\n'.repeat(3);
        expect(result).toMatchObject({ status: 'ok', stdout, stderr: '' });
        expect(passes(result)).toEqual([true, true, true, false, true]);
        expect(result.verdicts[3]?.problem).toBe('AssertionError: no');
      });

      test('judges objects of the solution by their attributes and methods', async () => {
        const code =
          'class Node:\n    def __init__(self, value): self.value, self.next = value, None\n    def __eq__(self, other): return True\n    def doubled(self): return 2 * self.value\ndef length(node): return 0 if not node else 1 + length(node.next)';
        const statements = [
          'assert length(head) == 2',
          'assert head.next.doubled() == 4',
          'assert head',
          'assert head == head',
        ];
        const judged = await judge(code, statements, {
          setup: 'head = Node(1)\nhead.next = Node(2)',
        });
        expect(passes(judged)).toEqual([true, true, false, false]);
      });

      test.each([
        ['ends', 'import os\ndef f(x): os._exit(0)', 'ok'],
        ['crashes', 'import os\ndef f(x): os.abort()', /ok|crashed/],
        ['does not load', 'raise ValueError("no")', /ok|error/],
        ['raises SystemExit', 'def f(x): raise SystemExit(0)', /ok|error/],
        ['leaves while it loads', 'import sys\nsys.exit(0)', /ok|error/],
        ['raises what ends loops', 'def f(x): raise StopIteration', 'ok'],
        ['floods its output', 'def f(x):\n    while True: print("a" * 9999)', 'output_limit'],
        [
          'agrees with everything',
          'class A:\n    __eq__ = lambda s, o: 1\ndef f(x): return A()',
          'ok',
        ],
      ])('passes no test of a solution that %s', async (_, code, status) => {
        const statements = ['assert f(1) == 2', 'assert all(map(lambda x: f(x) == 2, [1]))'];
        const judged = await judge(code, statements);
        expect(passes(judged)).not.toContain(true);
        expect(judged.status).toMatch(status);
      });

      test('counts the verdicts before a call that does not return, and no later ones', async () => {
        const code = 'def f(x):\n    while x == 2: pass\n    return x';
        const statements = [1, 2, 1].map((x) => `assert f(${x}) == ${x}`);
        const result = await judge(code, statements, {}, { wallS: 1 });
        expect(result.status).toBe('timeout');
        expect(passes(result)[0]).toBe(true);
        expect(passes(result).slice(1)).not.toContain(true);
        expect(result.stderr).toMatch(/File "main.py", line 2, in f[^]*KeyboardInterrupt\n$/);
        expect(result.stderr).not.toContain('harness');
      });

      test('ends solutions and tests that ignore interrupts', async () => {
        const limits = { wallS: 0.5 };
        const solution = `def f(x):\n    ${stubborn.replaceAll('\n', '\n    ')}`;
        const stuck = await judge(solution, ['assert f(1) == 1'], {}, limits);
        expect(stuck.status).toBe('timeout');
        expect(passes(stuck)).not.toContain(true);
        const statements = ['assert f(1) == 1', stubborn, 'assert 1'];
        const late = await judge('def f(x): return x', statements, {}, limits);
        expect(late.status).toBe('timeout');
        expect(passes(late).slice(1)).not.toContain(true);
        expect(passes(await judge('def f(x): return x', ['assert f(1) == 1']))).toEqual([true]);
      });

      test('makes a thousand calls, and carries megabytes both ways', async () => {
        const code =
          'made = []\ndef f(x):\n    made.append(x)\n    return len(made)\ndef g(x): return len(x)\ndef h(n): return "ab" * n';
        const statements = [
          'for i in range(1000): assert f(i) == i + 1',
          'assert g("é" * 500_000) == 500_000',
          'assert h(1_000_000) == "ab" * 1_000_000',
        ];
        expect(passes(await judge(code, statements))).toEqual([true, true, true]);
      });

      test('repeats the random results of the tests', async () => {
        const statements = ['import random', 'assert 0, random.random()'];
        const [first, second] = [await judge('1', statements), await judge('1', statements)];
        expect(first.verdicts[1]?.problem).toMatch(/^AssertionError: 0\.\d+$/);
        expect(second.verdicts).toEqual(first.verdicts);
      });

      test('leaves nothing of tests or solution to what runs next', async () => {
        const setup = 'import builtins; builtins.SECRET = "EXPECTED-VALUE"';
        await judge('import builtins; builtins.MARK = 1; f = 1', ['assert f == 1'], { setup });
        const code =
          'import builtins\ndef f(): return [hasattr(builtins, n) for n in ("SECRET", "MARK")]';
        const statements = ['import builtins', 'assert f() == [False, False]'];
        expect(passes(await judge(code, statements))).toEqual([true, true]);
        expect((await run(`${code}\nprint(f())`)).stdout).toBe('[False, False]\n');
      });

      test('stops when it is aborted', async () => {
        const abort = new AbortController();
        const code = 'def f(x):\n    while True: pass';
        const tests = { statements: ['assert f(1) == 1'] };
        const running = sandbox.execute({ kind: 'judge', code, tests }, abort.signal);
        setTimeout(() => abort.abort(new Error('enough')), 100);
        await expect(running).rejects.toThrow('enough');
      });
    });

    describe('with a session', () => {
      let session: SandboxSession;
      beforeAll(() => {
        session = sandbox.openSession();
      });
      afterAll(() => session.close());

      test('keeps its variables and files, and gives each program its own input', async () => {
        const begin =
          '\uFEFFimport math\ndef f(y): return x + y\nx = 3\nopen("f", "w").write("kept")\nprint("one")\nexit()';
        const first = await session.run({ code: begin });
        expect(first).toMatchObject({ status: 'ok', exitCode: 0, stdout: 'one\n', alive: true });
        const code = '\uFEFFprint(f(1), math.pi > 3, open("f").read(), input())';
        const second = await session.run({ code, stdin: 'hi\nunread\n' });
        const stdout = '4 True kept hi\n';
        expect(second).toMatchObject({ status: 'ok', stdout, stdoutBytes: 15, alive: true });
        expect((await session.run({ code: 'input()' })).stderr).toContain('EOFError');
      });

      test('outlives an exception, an exit and a lack of memory', async () => {
        for (const [code, status, exitCode] of [
          ['x = 1\n1 / 0', 'error', 1],
          ['import sys\nx += 1\nsys.exit(3)', 'error', 3],
          ['bytearray(2 ** 30)', 'memory_limit', 1],
        ] as const)
          expect(await session.run({ code })).toMatchObject({ status, exitCode, alive: true });
        expect(await session.run({ code: 'print(x)' })).toMatchObject({
          stdout: '2\n',
          stderr: '',
        });
      });

      test.each([
        ['computes', 'while True: pass'],
        ['sleeps', 'import time\ntime.sleep(60)'],
      ])('interrupts a program that %s at its deadline, keeping variables', async (_, idle) => {
        await session.run({ code: 'x = 1' });
        const code = `print("begun")\nx = 2\n${idle}`;
        const late = await session.run({ code, limits: { wallS: 0.5 } });
        expect(late).toMatchObject({ status: 'timeout', stdout: 'begun\n', alive: true });
        expect(late.stderr).toMatch(/File "main.py", line [34][^]*KeyboardInterrupt\n$/);
        expect(await session.run({ code: 'print(x)' })).toMatchObject({ stdout: '2\n' });
      });

      test('refuses invalid programs and limits, and lives on', async () => {
        await session.run({ code: 'x = 1' });
        const refused = { status: 'bad_request', alive: true };
        expect(await session.run({ code: 42 as never })).toMatchObject(refused);
        const late = await session.run({ code: '', limits: { wallS: -1 } });
        expect(late).toMatchObject({ ...refused, message: expect.stringMatching(/wallS is -1/) });
        expect((await session.run({ code: 'print(x)' })).stdout).toBe('1\n');
        for (const wrong of [{ totalWallS: 0 }, { limits: { memoryMiB: 1 } }])
          expect(() => sandbox.openSession(wrong)).toThrow(
            expect.objectContaining({ code: 'CONFIG_INVALID' }),
          );
      });

      test.each([
        ['exits past the harness', 'import os\nos._exit(4)', /error/],
        ['floods its output', 'while True: print("a" * 9999)', /output_limit/],
        ['breaks the interpreter', 'import os\nos.abort()', /crashed|signaled/],
      ])('ends with a program that %s, and begins anew', async (_, code, status) => {
        await session.run({ code: 'x = 1' });
        const ended = await session.run({ code });
        expect(ended.alive).toBe(false);
        expect(ended.status).toMatch(status);
        const anew = await session.run({ code: 'print("x" in globals())' });
        expect(anew).toMatchObject({ stdout: 'False\n', alive: true });
      });

      test('begins anew after a program that is aborted', async () => {
        await session.run({ code: 'x = 1' });
        const abort = new AbortController();
        const running = session.run({ code: 'while True: pass' }, abort.signal);
        const next = session.run({ code: 'print("x" in globals())' });
        setTimeout(() => abort.abort(new Error('enough')), 100);
        await expect(running).rejects.toThrow('enough');
        expect(await next).toMatchObject({ stdout: 'False\n', alive: true });
      });

      test('shows it nothing of another session', () =>
        inSession(async (other) => {
          const mark = 'import builtins\nbuiltins.mark = secret = 1\nopen("secret", "w").close()';
          await session.run({ code: mark });
          const code =
            'import builtins, os\nprint("secret" in globals(), hasattr(builtins, "mark"), os.listdir("."))';
          expect((await other.run({ code })).stdout).not.toMatch(/True|secret/);
        }));

      test('ends it when all its time is used, and fails once it is closed', async () => {
        const brief = sandbox.openSession({ limits: { wallS: 1 }, totalWallS: 0.6 });
        await brief.run({ code: 'import time\ntime.sleep(0.4)' });
        const cut = await brief.run({ code: 'print("here")\nimport time\ntime.sleep(60)' });
        expect(cut).toMatchObject({ status: 'timeout', stdout: 'here\n' });
        const after = await brief.run({ code: 'print(1)' });
        expect(after).toMatchObject({ status: 'timeout', stdout: '', alive: false });
        expect(after.message).toBe('the programs of the session used up their 0.6 s together');
        await brief.close();
        expect(await brief.run({ code: '1' })).toMatchObject({ status: 'sandbox_error' });
      });

      test('runs its programs in order, with the random numbers of its seed', () =>
        inSession(
          async (session) => {
            const draw = 'import random\nprint(random.random())';
            const codes = [draw, 'import time\ntime.sleep(0.1)\nx = [1]', 'x += [2]', 'print(x)'];
            const runs = await Promise.all(codes.map((code) => session.run({ code })));
            expect(runs.map(({ stdout }) => stdout).slice(1)).toEqual(['', '', '[1, 2]\n']);
            expect(runs[0]?.stdout).toBe((await run(draw, { seed: 1 })).stdout);
            expect(runs[0]?.stdout).not.toBe((await run(draw, { seed: 2 })).stdout);
          },
          { seed: 1 },
        ));

      test('lets more rollouts hold sessions than programs run at once', async () => {
        const rollouts = [0, 1, 2].map(async (i) => {
          const session = sandbox.openSession({ owner: `rollout ${i}` });
          await session.run({ code: `x = ${i}` });
          await run('print("between")');
          const { stdout } = await session.run({ code: 'print(x)' });
          await session.close();
          return stdout;
        });
        const beside = run('print("beside")', { owner: 'another' });
        expect(await Promise.all(rollouts)).toEqual(['0\n', '1\n', '2\n']);
        expect(await beside).toMatchObject({ status: 'ok', stdout: 'beside\n' });
      });
    });

    own?.(() => backend, ask);

    test('fails every request once it is closed', async () => {
      await sandbox.close();
      expect(await run('1')).toMatchObject({ status: 'sandbox_error' });
    });
  });
}
