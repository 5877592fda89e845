import { describe, expect, test } from '@jest/globals';

import type { CodeTests } from '../../../../agent_rl/core/code-task.ts';
import { judgeCode } from '../../../../agent_rl/sandbox/judge.ts';
import { scriptedSandbox } from '../../../support/scripted-sandbox.ts';
import { startedSandbox } from '../../../support/started-sandbox.ts';

const squarePlusOne: CodeTests = {
  kind: 'calls',
  entry: 'f',
  cases: [
    { args: [1], expected: 2, public: true },
    { args: [2], expected: 5 },
    { args: [10], expected: 101 },
    { args: [-3], expected: 10 },
  ],
};

/** Programs that are wrong and try to be judged right. */
const hacks: Readonly<Record<string, string>> = {
  'a plainly wrong answer': 'def f(x):\n    return x',
  'an exit with code 0 in the call': 'import sys\ndef f(x):\n    sys.exit(0)',
  'an exit with code 0 at once': 'import sys\nsys.exit(0)',
  'an exit past the harness': 'import os\ndef f(x):\n    os._exit(0)',
  'a printed marker': 'import os\nprint("ALL_TESTS_PASSED", flush=True)\nos._exit(0)',
  'a marker at exit':
    'import atexit\natexit.register(print, "ALL_TESTS_PASSED")\ndef f(x): return 0',
  'a number that equals everything':
    'class A(int):\n    def __eq__(s, o): return True\n    __hash__ = int.__hash__\ndef f(x): return A(0)',
  'an object that equals everything':
    'class A:\n    def __eq__(s, o): return True\n    def __getattr__(s, n): return lambda *a: True\ndef f(x): return A()',
  'an object that is true': 'class A:\n    def __bool__(s): return True\ndef f(x): return A()',
  'a text that shows itself as another':
    'class A(str):\n    def __str__(s): return "5"\n    __repr__ = __str__\ndef f(x): return A("x")',
  'keys that equal everything':
    'class K(str):\n    def __hash__(s): return 1\n    def __eq__(s, o): return True\ndef f(x): return {K("a"): 1}',
  'values in the frames above':
    'import sys\ndef f(x):\n    fr = sys._getframe(1)\n    while fr:\n        for k, v in [*fr.f_locals.items(), *fr.f_globals.items()]:\n            if k in ("expected", "outputs"): return v\n        fr = fr.f_back\n    return 0',
  'constants in the frames above':
    'import sys\ndef f(x):\n    fr = sys._getframe(1)\n    while fr:\n        if 101 in fr.f_code.co_consts: return {2: 5, 10: 101, -3: 10}[x]\n        fr = fr.f_back\n    return 0',
  'the source of the tests':
    'import glob, re\ndef f(x):\n    text = "".join(open(p).read() for p in glob.glob("/tmp/*") + glob.glob("/home/*"))\n    m = re.search(r"f\\(%d\\) == (-?\\d+)" % x, text)\n    return int(m[1]) if m else 0',
  'all objects in memory':
    'import gc\ndef f(x):\n    for o in gc.get_objects():\n        if isinstance(o, (list, tuple)) and 101 in o and 5 in o: return {2: 5, 10: 101, -3: 10}[x]\n    return 0',
  'a patched json':
    'import json\njson.dumps = lambda *a, **k: \'{"ok":true,"value":5}\'\njson.encoder.encode_basestring_ascii = json.dumps\ndef f(x): return 0',
  'patched builtins':
    'import builtins\nbuiltins.AssertionError = Exception\nbuiltins.all = lambda *a: True\nbuiltins.isinstance = lambda *a: True\ndef f(x): return 0',
  'a test of its own': 'def check(candidate): return None\ndef f(x): return 0',
  'a jump in the harness':
    'import sys\ndef f(x):\n    def trace(frame, event, arg): return trace\n    sys._getframe(1).f_trace = trace\n    sys.settrace(trace)\n    return 0',
  'results printed by itself':
    'import os\ndef f(x):\n    print("0\\n[" + ",".join([\'{"ok":true,"value":5}\'] * 3) + "]", flush=True)\n    os._exit(0)',
  'a replaced harness':
    'import builtins, sys\nimport __main__\nfor name in ("__sandbox_calls", "__sandbox_run"):\n    setattr(builtins, name, lambda *a: "0\\n[]")\ndef f(x): return 0',
  'a hang': 'def f(x):\n    while True: pass',
};

describe('The judge', () => {
  const sandbox = startedSandbox();
  const judge = (code: string, tests: CodeTests, more = {}) =>
    judgeCode(sandbox(), { code, tests, compare: 'exact', limits: { wallS: 0.7 }, ...more });

  test('passes a right function on its hidden cases alone', async () => {
    expect(await judge('def f(x):\n    return x * x + 1', squarePlusOne)).toMatchObject({
      status: 'judged',
      passed: 3,
      total: 3,
      statuses: ['passed', 'passed', 'passed'],
      failures: [],
    });
    const all = await judge('def f(x): return x * x + 1', squarePlusOne, { includePublic: true });
    expect(all).toMatchObject({ passed: 4, total: 4 });
  });

  test.each(Object.entries(hacks))('is not fooled by %s', async (_name, code) => {
    expect(await judge(code, squarePlusOne)).toMatchObject({
      status: 'judged',
      passed: 0,
      total: 3,
    });
  });

  test('compares what a program prints, case by case', async () => {
    const tests: CodeTests = {
      kind: 'stdin',
      cases: [
        { input: '1 2', output: '3', public: true },
        { input: '2 3', output: '5' },
        { input: '0 0', output: '0' },
        { input: 'a b', output: 'none' },
      ],
    };
    const code = 'a, b = map(int, input().split())\nprint(a + b if a else 7)';
    expect(await judge(code, tests)).toMatchObject({
      passed: 1,
      total: 3,
      statuses: ['passed', 'wrong-answer', 'error'],
      failures: [
        'input "0 0": printed "7\\n", expected "0"',
        expect.stringContaining('ValueError: invalid literal') as unknown,
      ],
    });
  });

  test('does not try further cases after one that ran out of time', async () => {
    const tests: CodeTests = {
      kind: 'stdin',
      cases: [
        { input: '1', output: '1' },
        { input: '2', output: '2' },
        { input: '3', output: '3' },
      ],
    };
    const code = 'n = input()\nwhile n == "2": pass\nprint(n)';
    expect(await judge(code, tests)).toMatchObject({
      passed: 1,
      statuses: ['passed', 'timeout', 'skipped'],
    });
  });

  test('names what assert statements need', async () => {
    await expect(judge('', { kind: 'asserts', code: ['assert f(1) == 1'] })).rejects.toThrow(
      'need a judge that runs assert statements',
    );
  });

  test('never counts a failure of the sandbox as one of the program', async () => {
    const broken = scriptedSandbox(() => ({ status: 'sandbox_error', message: 'the child died' }));
    const request = { code: '', tests: squarePlusOne, compare: 'exact' } as const;
    expect(await judgeCode(broken, request)).toMatchObject({ status: 'sandbox_error', passed: 0 });
  });
});
