import { describe, expect, test } from '@jest/globals';

import type { AssertTests, JudgeResult } from '#agent_rl/core/services/sandbox.ts';
import { channelProbes } from '#agent_rl/sandbox/probes/escape-probes.ts';
import { probeProgram } from '#agent_rl/sandbox/probes/probe-escapes.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const gone = { passed: false, problem: 'SolutionEnded: the solution ended early' };

describe('A judge', () => {
  const sandbox = startedSandbox();
  const judged = (
    code: string,
    statements: readonly string[],
    more: Partial<AssertTests> = {},
    limits: { wallS?: number; memoryMiB?: number } = {},
  ): Promise<JudgeResult> =>
    sandbox().execute({ kind: 'judge', code, tests: { statements, ...more }, limits }, undefined);
  const passes = async (...given: Parameters<typeof judged>): Promise<boolean[]> =>
    (await judged(...given)).verdicts.map(({ passed }) => passed);

  test('passes what is right, fails what is wrong, and says why', async () => {
    const code = 'def add(a, b):\n    print("adding")\n    return a + b';
    const statements = ['assert add(1, 2) == 3', 'assert candidate(2, 2) == 5, "not five"'];
    expect(await judged(code, statements, { entry: 'add' })).toMatchObject({
      status: 'ok',
      exitCode: 0,
      stdout: 'adding\nadding\n',
      verdicts: [{ passed: true }, { passed: false, problem: 'AssertionError: not five' }],
    });
  });

  test('keeps what the tests print to itself', async () => {
    const result = await judged('print("mine")', ['print("expected: 42")', 'assert True']);
    expect(result).toMatchObject({ stdout: 'mine\n', stderr: '', status: 'ok' });
  });

  test('shows the tests an exception as the program raised it', async () => {
    const expecting = (name: string): string =>
      `try:\n    f()\nexcept ${name}:\n    pass\nelse:\n    raise AssertionError`;
    const code = 'def f(): raise KeyError("k")';
    expect(await passes(code, ['KeyError', 'ValueError'].map(expecting))).toEqual([true, false]);
    const stop = 'def f(): raise StopIteration';
    const looped = 'for i in (f() for _ in range(3)): pass';
    expect((await judged(stop, [looped, 'f()'])).verdicts).toEqual([
      { passed: false, problem: 'SolutionRaised: StopIteration:' },
      { passed: false, problem: 'SolutionRaised: StopIteration:' },
    ]);
  });

  test('lets the tests hold objects of the program by handle, and use them as nothing but that', async () => {
    const code = `class Node:
    def __init__(self, value):
        self.value = value
        self.left = None
    def __eq__(self, other): return True
    def doubled(self): return 2 * self.value
def total(node):
    return node.value + (total(node.left) if node.left else 0)`;
    const setup = 'r = Node(1); r.left = Node(2)';
    const statements = [
      'assert total(r) == 3',
      'assert r.left.value == 2',
      'assert r.left.doubled() == 4',
      'assert r == 17',
      'assert r',
    ];
    expect(await passes(code, statements, { setup })).toEqual([true, true, true, false, false]);
  });

  test('takes no built-in name from the program, unless the tests ask for it', async () => {
    const code = 'def sorted(x): return [1, 2]\ndef len(x): return 5';
    const statements = ['assert sorted([2, 1, 3]) == [1, 2]', 'assert len([]) == 5'];
    expect(await passes(code, statements)).toEqual([false, false]);
    expect(await passes(code, statements, { names: ['sorted', 'len'] })).toEqual([true, true]);
  });

  test('hears a program that ends early as nothing but failures', async () => {
    const expectsAny = 'try:\n    f(1)\nexcept BaseException:\n    pass';
    const leaving = await judged('import os\ndef f(x): os._exit(0)', [expectsAny, 'assert 1']);
    expect(leaving).toMatchObject({ status: 'ok', exitCode: 0, verdicts: [gone, gone] });
    const crashing = await judged('import os\ndef f(x): os.abort()', [expectsAny, 'assert 1']);
    expect(crashing).toMatchObject({ status: 'crashed', verdicts: [gone, gone] });
  });

  test('counts the verdicts before a call that does not return, and no later ones', async () => {
    const code = 'def f(x):\n    while x == 2: pass\n    return x';
    const statements = ['assert f(1) == 1', 'assert f(2) == 2', 'assert f(1) == 1'];
    const result = await judged(code, statements, {}, { wallS: 1 });
    expect(result).toMatchObject({ status: 'timeout', verdicts: [{ passed: true }, gone, gone] });
    expect(result.stderr).toContain('File "main.py", line 2, in f');
    expect(result.stderr).toMatch(/KeyboardInterrupt\n$/);
    expect(result.stderr).not.toContain('harness');
  });

  test('ends a program that ignores interrupts', async () => {
    const code =
      'def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass';
    const result = await judged(code, ['assert f(1) == 1'], {}, { wallS: 0.5 });
    expect(result).toMatchObject({ status: 'timeout', verdicts: [gone] });
    expect(await passes('def f(x): return x', ['assert f(1) == 1'])).toEqual([true]);
  });

  test('ends tests that do not end', async () => {
    const code = 'def f(x): return x';
    const endless =
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass';
    const result = await judged(
      code,
      ['assert f(1) == 1', endless, 'assert 1'],
      {},
      { wallS: 0.5 },
    );
    expect(result).toMatchObject({ status: 'timeout', verdicts: [{ passed: true }] });
    expect(result.message).toContain('the tests ended early');
  });

  test('says of every test that the program did not load, or that the setup failed', async () => {
    const unloaded = await judged('print("x")\n1 / 0', ['assert 1', 'assert 2']);
    const problem =
      'SolutionRaised: the solution did not load: ZeroDivisionError: division by zero';
    expect(unloaded).toMatchObject({ status: 'error', exitCode: 1, stdout: 'x\n' });
    expect(unloaded.verdicts).toEqual([
      { passed: false, problem },
      { passed: false, problem },
    ]);
    expect(unloaded.stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
    expect((await judged('pass', ['assert 1'], { setup: 'absent + 1' })).verdicts).toEqual([
      { passed: false, problem: "NameError: name 'absent' is not defined" },
    ]);
    const looping = await judged('while True: pass', ['assert 1'], {}, { wallS: 0.5 });
    expect(looping).toMatchObject({ status: 'timeout', verdicts: [gone] });
  });

  test('stops a program that floods its output', async () => {
    const code = 'def f(x):\n    while True: print("a" * 10000)';
    expect(await judged(code, ['assert f(1) == 1'])).toMatchObject({
      status: 'output_limit',
      verdicts: [gone],
    });
  });

  test('bounds the memory of the program', async () => {
    const bomb = 'x = []\n    while True: x.append(bytearray(20 << 20))';
    const inCall = await judged(
      `def f(n):\n    ${bomb}`,
      ['assert f(1) == 1'],
      {},
      { memoryMiB: 128 },
    );
    expect(inCall.verdicts).toEqual([{ passed: false, problem: 'MemoryError' }]);
    const atLoad = await judged(`if True:\n    ${bomb}`, ['assert 1'], {}, { memoryMiB: 128 });
    expect(atLoad.status).toBe('memory_limit');
    expect(atLoad.verdicts).toMatchObject([{ passed: false }]);
  });

  test.each([
    ['text that is not a message', 'b"garbage that is not a message"'],
    ['a message that is not JSON', 'b"\\0\\0\\0\\5hello"'],
    ['a message without meaning', 'b"\\0\\0\\0\\2{}"'],
    ['a message of a nonsensical length', 'b"\\xff" * 100'],
    ['bytes without end', 'b"\\0" * 65536'],
  ])('takes %s in the channel for a failure', async (_, bytes) => {
    const write = `os.write(3, ${bytes})`;
    const code = `import os\ndef f(x):\n    ${bytes.includes('65536') ? 'while True: ' : ''}${write}\n    return x`;
    const statements = [
      'try:\n    assert f(1) == 1\nexcept Exception:\n    pass',
      'assert f(1) == 1',
      'assert f(2) == 2',
    ];
    expect(await passes(code, statements, {}, { wallS: 0.5 })).toEqual([false, false, false]);
    const early = await passes(`import os\n${write}\n${code}`, statements, {}, { wallS: 0.5 });
    expect(early).toEqual([false, false, false]);
  });

  test('takes a channel that the program closed or reads itself for a failure', async () => {
    const closing = 'import os\ndef f(x):\n    os.close(3)\n    return x';
    expect(await passes(closing, ['assert f(1) == 1', 'assert 1'])).toEqual([false, false]);
    const stealing = 'import os\ndef f(x):\n    os.read(3, 10)\n    return x';
    const statements = ['assert f(1) == 1', 'assert f(1) == 1'];
    expect(await passes(stealing, statements, {}, { wallS: 0.5 })).toEqual([false, false]);
  });

  test('carries values of megabytes both ways', async () => {
    const statements = [
      'assert f("é" * 500_000) == 500_000',
      'assert g(1_000_000) == "ab" * 1_000_000',
    ];
    const code = 'def f(x): return len(x)\ndef g(n): return "ab" * n';
    expect(await passes(code, statements)).toEqual([true, true]);
  });

  test('makes a thousand calls', async () => {
    const code = 'made = []\ndef f(x):\n    made.append(x)\n    return len(made)';
    const statement = 'for i in range(1000): assert f(i) == i + 1';
    expect(await passes(code, [statement])).toEqual([true]);
  });

  test('repeats both sides with the seed', async () => {
    const code = 'import random\ndef f(): return random.random()';
    const statements = ['import random', 'print(1)\nassert 0, (f(), random.random())'];
    const first = await judged(code, statements);
    expect(first.verdicts[1]?.problem).toMatch(/^AssertionError: \(0\.\d+, 0\.\d+\)$/);
    expect((await judged(code, statements)).verdicts).toEqual(first.verdicts);
    const other = await sandbox().execute({ kind: 'judge', code, tests: { statements }, seed: 1 });
    expect(other.verdicts[1]?.problem).not.toBe(first.verdicts[1]?.problem);
  });

  test('leaves nothing of tests or program to what runs next', async () => {
    const setup = 'import builtins; builtins.SECRET = "EXPECTED-VALUE"';
    await judged('import builtins; builtins.MARK = 1; f = 1', ['assert f == 1'], { setup });
    const code =
      'import builtins\ndef f(): return [hasattr(builtins, n) for n in ("SECRET", "MARK")]';
    const both = [
      'import builtins',
      'assert f() == [False, False]',
      'assert not hasattr(builtins, "SECRET")',
    ];
    expect(await passes(code, both)).toEqual([true, true, true]);
    const { stdout } = await sandbox().execute({ kind: 'run', code: `${code}\nprint(f())` });
    expect(stdout).toBe('[False, False]\n');
  });

  test('shows the program a channel, and one that is called where its results go; one that is run finds none', async () => {
    const code = probeProgram(channelProbes, {});
    const { stdout } = await judged(code, ['assert 1']);
    expect(stdout).toContain('ESCAPED descriptor of a channel');
    expect(stdout).toContain('ESCAPED stream of a channel');
    const plain = await sandbox().execute({ kind: 'run', code });
    expect(plain.stdout).toBe('ALL PROBES TRIED\n');
    const called = await sandbox().execute({ kind: 'calls', code, entry: 'print', args: [] });
    expect(called.stdout).toContain('ESCAPED descriptor of a channel');
    expect(called).toMatchObject({ status: 'ok', results: [] });
  });

  test('stops when it is cancelled', async () => {
    const abort = new AbortController();
    const tests = { statements: ['assert f(1) == 1'] };
    const running = sandbox().execute(
      { kind: 'judge', code: 'def f(x):\n    while True: pass', tests },
      abort.signal,
    );
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(await passes('def f(x): return x', ['assert f(1) == 1'])).toEqual([true]);
  });
});
