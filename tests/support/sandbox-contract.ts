import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { CallsRequest, JudgeRequest, Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { unhurried } from './sandbox-limits.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What every backend does alike behind its layers. */
export function sandboxContract(name: string, start: () => Promise<Sandbox>): void {
  describe(`The sandbox ${name}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = unhurried(await start());
    });
    afterAll(() => sandbox?.close());
    const calls = (request: CallsRequest) => sandbox.execute({ kind: 'calls', ...request });
    const judge = (request: JudgeRequest) => sandbox.execute({ kind: 'judge', ...request });
    const run = (code: string, stdin = '') => sandbox.execute({ kind: 'run', code, stdin });

    test('runs a program as Python does', async () => {
      const result = await run('import sys\nprint(__name__, input(), 1/2)\nsys.exit(3)', 'hi\n');
      expect(result).toMatchObject({ status: 'error', exitCode: 3, stdout: '__main__ hi 0.5\n' });
      expect(result.level).toBe(sandbox.capabilities().level);
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

    test('reads a program behind a byte order mark, in a run, in calls and beside tests', async () => {
      const code = '\uFEFFdef f(x): return x + 1\nprint(1)';
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '1\n', stderr: '' });
      expect((await run('\uFEFF1/0')).stderr).toContain(
        'File "main.py", line 1, in <module>\n    1/0',
      );
      expect(await calls({ code, entry: 'f', args: [[1]] })).toMatchObject({
        results: [{ ok: true, value: 2 }],
      });
      const tests = { statements: ['assert f(1) == 2'] };
      expect(await judge({ code, tests })).toMatchObject({ verdicts: [{ passed: true }] });
      expect((await run('print(1)\n\uFEFF')).stderr).toContain('U+FEFF');
    });

    test('goes on with a session after exit(), and reads its programs behind a byte order mark', async () => {
      const session = sandbox.openSession();
      try {
        expect(await session.run({ code: '\uFEFFx = 1\nexit()' })).toMatchObject({ status: 'ok' });
        expect(await session.run({ code: '\uFEFFprint(x, input())', stdin: 'a\n' })).toMatchObject({
          status: 'ok',
          stdout: '1 a\n',
        });
      } finally {
        await session.close();
      }
    });

    test("shows the traceback with the program's own lines only", async () => {
      const { status, stderr } = await run('def f():\n    return 1/0\nf()');
      expect(status).toBe('error');
      expect(stderr).toMatch(
        /^Traceback[^\n]*\n  File "main.py", line 3, in <module>\n[^]*File "main.py", line 2, in f\n[^]*ZeroDivisionError: division by zero\n$/,
      );
      expect(stderr).not.toMatch(/harness|entries/);
    });

    describe('given bad input', () => {
      afterAll(async () => {
        expect(await run('print("healthy")')).toMatchObject({ status: 'ok', stdout: 'healthy\n' });
      });

      test.each([[null], [42], [undefined], [['print(1)']]])(
        'refuses the code %p',
        async (code) => {
          const result = await sandbox.execute({ kind: 'run', code: code as unknown as string });
          expect(result).toMatchObject({ status: 'bad_request', stdout: '' });
          expect(result.message).toMatch(/code must be a string/);
        },
      );

      test('refuses 2 MB of code and says how much is allowed', async () => {
        const { status, message } = await run('x = 1\n'.repeat(350_000));
        expect(status).toBe('bad_request');
        expect(message).toBe('code has 2100000 characters, at most 1048576 are allowed');
      });

      test('shows what Python says of NUL and of lone surrogates', async () => {
        expect(await run('print(1)\0')).toMatchObject({ status: 'error', stdout: '' });
        const surrogate = await run('print("\ud800")');
        expect(surrogate).toMatchObject({ status: 'error', stdout: '' });
        expect(surrogate.stderr).toMatch(/surrogates not allowed/);
      });

      test('reads 10 MB of standard input', async () => {
        const code = 'import sys\ntext = sys.stdin.read()\nprint(len(text), text[-3:])';
        const result = await run(code, `${'x'.repeat(10_000_000)}end`);
        expect(result).toMatchObject({ status: 'ok', stdout: '10000003 end\n' });
      });

      test('ends endless output and keeps its beginning', async () => {
        const result = await run('while True: print("x" * 999)');
        expect(result).toMatchObject({ status: 'output_limit', truncated: true });
        expect(result.stdout.length).toBeLessThanOrEqual(65536);
        expect(result.stdoutBytes).toBeGreaterThan(4 * 1024 * 1024);
      });

      test('replaces bytes that are not text', async () => {
        const code = 'import sys\nsys.stdout.buffer.write(b"a\\xff\\xfe\\x00b")';
        expect(await run(code)).toMatchObject({ status: 'ok', stdout: 'a\ufffd\ufffd\0b' });
      });

      test('says that an entry point is missing', async () => {
        const result = await calls({ code: 'x = 1', entry: 'f', args: [[1], [2]] });
        const missing = {
          ok: false,
          problem: 'NameError: the program defines no function named f',
        };
        expect(result.results).toEqual([missing, missing]);
      });

      test.each(['/etc/x', '../x', 'a/../../x', '', 'a//b', 'a\0b'])(
        'refuses the file %j',
        async (path) => {
          const result = await sandbox.execute({
            kind: 'run',
            code: '1',
            files: { [path]: base64('x') },
          });
          expect(result.status).toBe('bad_request');
        },
      );
    });

    test('puts files into the working folder, and the next run finds none of them', async () => {
      const files = { 'data/a.txt': base64('one'), 'helper.py': base64('two = 2') };
      const code = 'import helper\nprint(open("data/a.txt").read(), helper.two)';
      expect(await sandbox.execute({ kind: 'run', code, files })).toMatchObject({
        status: 'ok',
        stdout: 'one 2\n',
      });
      const again = await run('import os\nprint(sorted(os.listdir(".")))\nimport helper');
      expect(again.stderr).toMatch(/ModuleNotFoundError/);
    });

    test('puts a file of any name there, also that of a property of all objects', async () => {
      const names = ['__proto__', 'constructor', 'toString'];
      const files = Object.fromEntries(names.map((each) => [each, base64(`in ${each}`)]));
      const code = `import os\nprint([open(each).read() for each in ${JSON.stringify(names)} if each in os.listdir(".")])`;
      const stdout = "['in __proto__', 'in constructor', 'in toString']\n";
      expect(await sandbox.execute({ kind: 'run', code, files })).toMatchObject({
        status: 'ok',
        stdout,
      });
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '[]\n' });
    });

    test('lets a program import none of our own modules', async () => {
      const names = ['entries', 'jail', 'kernel', 'main', 'supervisor', 'walls', 'walls.jail'];
      const code = `import importlib, sys
for name in ${JSON.stringify(names)}:
    try: importlib.import_module(name)
    except ModuleNotFoundError: continue
    print("imported", name)
print([name for name in sys.modules if name.split(".")[0] in ("child", "template", "walls", "zygote")])`;
      expect(await run(code)).toMatchObject({ status: 'ok', stdout: '[]\n' });
    });

    test("imports the program's own modules, whatever ours are called", async () => {
      const names = ['kernel', 'loop', 'limits', 'box', 'entries', 'walls'];
      const files = Object.fromEntries(names.map((each) => [`${each}.py`, base64('own = 1')]));
      const code = `import ${names.join(', ')}\nprint(${names.map((each) => `${each}.own`).join(' + ')})`;
      expect(await sandbox.execute({ kind: 'run', code, files })).toMatchObject({
        status: 'ok',
        stdout: '6\n',
      });
    });

    test('calls a function and a method of a fresh instance', async () => {
      const code =
        'class S:\n    def __init__(self): self.n = 0\n    def add(self, x):\n        self.n += x\n        return (self.n, {1: [x]})\ndef half(x): return x / 2';
      const { results } = await calls({ code, entry: 'S.add', args: [[1], [2]] });
      expect(results).toEqual([
        { ok: true, value: { $tuple: [1, { $dict: [[1, [1]]] }] } },
        { ok: true, value: { $tuple: [2, { $dict: [[1, [2]]] }] } },
      ]);
      const halves = await calls({ code, entry: 'half', args: [[3], ['x']] });
      expect(halves.results[0]).toEqual({ ok: true, value: { $float: '1.5' } });
      expect(halves.results[1]).toMatchObject({ ok: false });
    });

    test.each<[string, (value: unknown) => unknown]>([
      ['lists', (value) => [value]],
      ['tuples', (value) => ({ $tuple: [value] })],
      ['sets', (value) => ({ $frozenset: [value] })],
      ['dictionaries', (value) => ({ $dict: [['k', value]] })],
    ])('carries %s nested 100 deep to a function and back', async (_name, wrap) => {
      let value: unknown = 1;
      for (let i = 0; i < 100; i++) value = wrap(value);
      const code = 'def f(x): return x';
      const { results } = await calls({ code, entry: 'f', args: [[value]] });
      expect(results).toEqual([{ ok: true, value }]);
    });

    test('keeps the results of the calls before one that does not return', async () => {
      const code = 'def f(x):\n    while x > 1: pass\n    return x';
      const request = { code, entry: 'f', args: [[1], [2], [1]], limits: { wallS: 1 } };
      const result = await calls(request);
      expect(result).toMatchObject({ status: 'timeout', results: [{ ok: true, value: 1 }] });
    });

    test('judges statements one by one, in order, in names of their own', async () => {
      const code = 'def double(x): return 2 * x\ndef sorted(x): return "mine"';
      const statements = [
        'assert double(2) == 4',
        'kept = double(3)',
        'assert kept == 6',
        'assert double(1) == 3, "no"',
        'assert sorted([2, 1]) == [1, 2]',
      ];
      const result = await judge({ code, tests: { statements } });
      expect(result.status).toBe('ok');
      expect(result.verdicts.map(({ passed }) => passed)).toEqual([true, true, true, false, true]);
      expect(result.verdicts[3]?.problem).toBe('AssertionError: no');
    });

    test('judges objects of the solution by their attributes and methods', async () => {
      const code =
        'class Node:\n    def __init__(self, value): self.value, self.next = value, None\n    def doubled(self): return 2 * self.value\ndef length(node): return 0 if node is None else 1 + length(node.next)';
      const tests = {
        setup: 'head = Node(1)\nhead.next = Node(2)',
        statements: [
          'assert length(head) == 2',
          'assert head.next.doubled() == 4',
          'assert head',
          'assert head == head',
        ],
      };
      const { verdicts } = await judge({ code, tests });
      expect(verdicts.map(({ passed }) => passed)).toEqual([true, true, false, false]);
    });

    test.each([
      ['ends', 'import os\ndef f(x): os._exit(0)'],
      ['does not load', 'raise ValueError("no")'],
      ['leaves while it loads', 'import sys\nsys.exit(0)'],
      ['raises what ends loops', 'def f(x): raise StopIteration'],
      [
        'answers with a friendly object',
        'class A:\n    __eq__ = lambda s, o: True\ndef f(x): return A()',
      ],
    ])('passes no test of a solution that %s', async (_, code) => {
      const statements = ['assert f(1) == 2', 'assert all(map(lambda x: f(x) == 2, [1]))'];
      const { verdicts } = await judge({ code, tests: { statements } });
      expect(verdicts.filter(({ passed }) => passed)).toEqual([]);
    });

    test('stops tests whose solution hangs', async () => {
      const code = 'def f(x):\n    while True: pass';
      const tests = { statements: ['assert f(1) == 2', 'assert f(2) == 4'] };
      const result = await judge({ code, tests, limits: { wallS: 0.5 } });
      expect(result.status).toBe('timeout');
      expect(result.verdicts.filter(({ passed }) => passed)).toEqual([]);
    });

    test('keeps variables and files of a session from one program to the next', async () => {
      const session = sandbox.openSession();
      const begin =
        'import math\ndef f(y): return x + y\nx = 3\nopen("f", "w").write("kept")\nprint("one")';
      const first = await session.run({ code: begin });
      expect(first).toMatchObject({ status: 'ok', exitCode: 0, stdout: 'one\n', alive: true });
      const second = await session.run({
        code: 'print(f(1), math.pi > 3, open("f").read(), input())',
        stdin: 'hi\n',
      });
      const stdout = '4 True kept hi\n';
      expect(second).toMatchObject({ status: 'ok', stdout, stdoutBytes: 15, alive: true });
      expect(await session.run({ code: '1/0' })).toMatchObject({ status: 'error', alive: true });
      expect(await session.run({ code: 'print(x)' })).toMatchObject({ stdout: '3\n', stderr: '' });
      await session.close();
    });

    test.each([
      ['computes', 'while True: pass'],
      ['sleeps', 'import time\ntime.sleep(60)'],
    ])(
      "interrupts a session's program that %s at its deadline, keeping variables",
      async (_, idle) => {
        const session = sandbox.openSession();
        await session.run({ code: 'x = 1' });
        const late = await session.run({
          code: `print("begun")\nx = 2\n${idle}`,
          limits: { wallS: 0.5 },
        });
        expect(late).toMatchObject({ status: 'timeout', stdout: 'begun\n', alive: true });
        expect(late.stderr).toMatch(/File "main.py", line [34][^]*KeyboardInterrupt\n$/);
        expect(await session.run({ code: 'print(x)' })).toMatchObject({ stdout: '2\n' });
        await session.close();
      },
    );

    test('refuses programs and limits that a session cannot take, and the session lives on', async () => {
      const session = sandbox.openSession();
      const refused = { status: 'bad_request', alive: true };
      expect(await session.run({ code: 42 as never })).toMatchObject(refused);
      await session.run({ code: 'x = 1' });
      expect(await session.run({ code: 42 as never })).toMatchObject(refused);
      const late = await session.run({ code: '', limits: { wallS: -1 } });
      expect(late).toMatchObject({ ...refused, message: expect.stringMatching(/wallS is -1/) });
      expect((await session.run({ code: 'print(x)' })).stdout).toBe('1\n');
      await session.close();
      expect(() => sandbox.openSession({ totalWallS: 0 })).toThrow('totalWallS is 0');
      expect(() => sandbox.openSession({ limits: { memoryMiB: 1 } })).toThrow('from 64 to 1024');
    });

    test('says that a session ended, and begins it anew', async () => {
      const session = sandbox.openSession();
      await session.run({ code: 'x = 1' });
      const gone = await session.run({ code: 'import os\nos._exit(4)' });
      expect(gone).toMatchObject({ exitCode: 4, alive: false });
      const anew = await session.run({ code: 'print("x" in globals())' });
      expect(anew).toMatchObject({ stdout: 'False\n', alive: true });
      await session.close();
    });

    test('ends a session that used up the time of all its programs', async () => {
      const session = sandbox.openSession({ limits: { wallS: 1 }, totalWallS: 0.6 });
      await session.run({ code: 'import time\ntime.sleep(0.4)' });
      const cut = await session.run({ code: 'print("here")\nimport time\ntime.sleep(60)' });
      expect(cut).toMatchObject({ status: 'timeout', stdout: 'here\n' });
      const after = await session.run({ code: 'print(1)' });
      expect(after).toMatchObject({ status: 'timeout', stdout: '', alive: false });
      expect(after.message).toBe('the programs of the session used up their 0.6 s together');
      await session.close();
      expect(await session.run({ code: 'print(1)' })).toMatchObject({ status: 'sandbox_error' });
    });

    test('sees nothing of one session in another', async () => {
      const [one, other] = [sandbox.openSession(), sandbox.openSession()];
      await one.run({
        code: 'import builtins\nbuiltins.mark = secret = 1\nopen("secret", "w").close()',
      });
      const code =
        'import builtins, os\nprint("secret" in globals(), hasattr(builtins, "mark"), os.listdir("."))';
      expect((await other.run({ code })).stdout).not.toMatch(/True|secret/);
      await one.close();
      await other.close();
    });

    test('lets more rollouts hold sessions than programs run at once, each its own', async () => {
      const rollouts = [0, 1, 2, 3].map(async (i) => {
        const session = sandbox.openSession({ owner: `rollout ${i}` });
        await session.run({ code: `x = ${i}` });
        await run('print("between")');
        const { stdout } = await session.run({ code: 'print(x)' });
        await session.close();
        return stdout;
      });
      const beside = sandbox.execute({ kind: 'run', code: 'print("beside")', owner: 'another' });
      expect(await Promise.all(rollouts)).toEqual(['0\n', '1\n', '2\n', '3\n']);
      expect(await beside).toMatchObject({ status: 'ok', stdout: 'beside\n' });
    });

    test('repeats random results with the seed, also from secrets and uuid', async () => {
      const code =
        'import random, secrets, uuid\nprint(random.random(), secrets.token_hex(8), uuid.uuid4(), {"a", "b", "c"}, object())';
      const [one, same, other] = await Promise.all(
        [1, 1, 2].map((seed) => sandbox.execute({ kind: 'run', code, seed })),
      );
      expect(one?.stdout).toBe(same?.stdout);
      expect(one?.stdout).not.toBe(other?.stdout);
    });

    test('ends at once when the run is aborted', async () => {
      const stop = new AbortController();
      const running = sandbox.execute({ kind: 'run', code: 'while True: pass' }, stop.signal);
      setTimeout(() => stop.abort(new Error('enough')), 200);
      await expect(running).rejects.toThrow('enough');
      expect(await run('print(1)')).toMatchObject({ status: 'ok' });
    });

    test('answers many at once, each with its own', async () => {
      const results = await Promise.all(
        Array.from({ length: 24 }, (_, i) => run(`print(${i} * 2, input())`, `${i}\n`)),
      );
      expect(results.map(({ stdout }) => stdout)).toEqual(
        Array.from({ length: 24 }, (_, i) => `${2 * i} ${i}\n`),
      );
    });

    test('fails what is asked of it once it is closed', async () => {
      const closed = unhurried(await start());
      await closed.close();
      expect(await closed.execute({ kind: 'run', code: '1' })).toMatchObject({
        status: 'sandbox_error',
      });
    });
  });
}
