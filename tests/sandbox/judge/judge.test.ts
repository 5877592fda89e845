import { describe, expect, test } from '@jest/globals';

import { keptOutputBytes } from '#agent_rl/core/services/sandbox.ts';
import type { CodeTests } from '#agent_rl/core/tasks/code-task.ts';
import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { nativeLimits } from '#agent_rl/sandbox/native/protocol.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';
import { type ScriptedSandbox, scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

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
const printing = (...cases: [input: string, output: string][]): CodeTests => ({
  kind: 'stdin',
  cases: cases.map(([input, output]) => ({ input, output })),
});
const statements = {
  kind: 'asserts',
  setup: 'y = 2',
  code: ['assert f(y) == 4', 'assert f(3) == 9', 'assert f(4) == 16'],
  public: ['assert f(1) == 1'],
  entry: 'f',
  names: ['f'],
} as const satisfies CodeTests;
const large = 'x'.repeat(keptOutputBytes);

describe('The judge with a real sandbox', () => {
  const sandbox = startedSandbox();
  const judge = (code: string, tests: CodeTests, more = {}) =>
    judgeCode(sandbox(), { code, tests, compare: 'exact', limits: unhurriedLimits, ...more });

  test('passes a right function on its hidden cases, and on the public ones when requested', async () => {
    const code = 'def f(x):\n    return x * x + 1';
    const all3 = { status: 'judged', passed: 3, total: 3, failures: [] };
    expect(await judge(code, squarePlusOne)).toMatchObject(all3);
    const all = await judge(code, squarePlusOne, { includePublic: true });
    expect(all).toMatchObject({ passed: 4, total: 4 });
  });

  test('compares what a program prints, case by case', async () => {
    const tests = printing(['2 3', '5'], ['0 0', '0'], ['a b', 'none']);
    const code = 'a, b = map(int, input().split())\nprint(a + b if a else 7)';
    const invalid: unknown = expect.stringContaining('ValueError: invalid literal');
    expect(await judge(code, tests)).toMatchObject({
      passed: 1,
      total: 3,
      statuses: ['passed', 'wrong-answer', 'error'],
      failures: ['input "0 0": printed "7\\n", expected "0"', invalid],
    });
  });

  test('skips the cases after one that timed out', async () => {
    const tests = printing(['1', '1'], ['2', '2'], ['3', '3']);
    const code = 'n = input()\nwhile n == "2": pass\nprint(n)';
    const judged = await judge(code, tests, { limits: { wallS: 2 } });
    expect(judged.statuses).toEqual(['passed', 'timeout', 'skipped']);
  });

  test.each([
    ['def f(x): return x * x', ['passed', 'passed', 'passed']],
    ['def f(x): return 9', ['wrong-answer', 'passed', 'wrong-answer']],
    ['def f(x): return 9 / (x - 3)', ['wrong-answer', 'error', 'wrong-answer']],
    ['def g(x): return x', ['error', 'error', 'error']],
    ['import os\ndef f(x): os._exit(0)', ['error', 'error', 'error']],
    ['def f(x):\n    while x == 3: pass\n    return x * x', ['passed', 'timeout', 'timeout']],
  ])('finds that by statements %j comes to %j', async (code, statuses) => {
    const judged = await judge(code, statements, { limits: { wallS: 2 } });
    expect(judged.statuses).toEqual(statuses);
  });
});

/** Judges with a sandbox that always gives the same answer. */
async function judgedBy(
  answer: Parameters<typeof scriptedSandbox>[0] extends (request: never) => infer Answer
    ? Answer
    : never,
  tests: CodeTests,
  more = {},
) {
  const sandbox: ScriptedSandbox = scriptedSandbox(() => answer);
  const judgement = await judgeCode(sandbox, { code: 'c', tests, compare: 'exact', ...more });
  return { ...judgement, asked: sandbox.requests };
}
const pass = { passed: true };

describe('The judge of what a program prints', () => {
  const run = (stdout: string, stdoutBytes: number) => {
    const answer = { truncated: true, stdout, stdoutBytes, stderrBytes: 200_000 };
    return judgedBy(answer, printing(['', stdout]));
  };

  test.each([
    ['short', '1\n', 2],
    ['as long as what is kept', large, keptOutputBytes],
    ['made of bytes that are not text', '\ufffd\ufffd', 2],
  ])('passes a stdout that is %s, whatever was cut of stderr', async (_, stdout, bytes) => {
    expect(await run(stdout, bytes)).toMatchObject({ passed: 1 });
  });

  test.each([
    ['at the bound', large, 70_000, keptOutputBytes],
    ['within a character', large.slice(2), 70_000, keptOutputBytes - 2],
    ['earlier, by another sandbox', '1\n', 5, 2],
    ['and is not text', '\ufffd'.repeat(keptOutputBytes), 70_000, keptOutputBytes],
  ])('fails a stdout that was cut %s', async (_, stdout, bytes, kept) => {
    const { passed, failures } = await run(stdout, bytes);
    expect(passed).toBe(0);
    expect(failures[0]).toContain(`${bytes} bytes, of which only the first ${kept} are kept`);
  });

  test('relies on the native sandbox keeping as much of a stream as every sandbox', () => {
    expect(nativeLimits({ wallS: 1, memoryMiB: 64 }).output_kept).toBe(keptOutputBytes);
  });
});

describe('The judge of statements', () => {
  test('judges the hidden statements by their verdicts', async () => {
    const problems = ['AssertionError: no', 'NameError: name'];
    const verdicts = [pass, ...problems.map((problem) => ({ passed: false, problem }))];
    const judged = await judgedBy({ verdicts }, statements, { limits: { wallS: 2 }, seed: 3 });
    const { setup, code, entry, names } = statements;
    const tests = { setup, statements: code, entry, names };
    expect(judged).toMatchObject({
      passed: 1,
      statuses: ['passed', 'wrong-answer', 'error'],
      failures: problems.map((problem, i) => `"${code[i + 1]}": "${problem}"`),
      asked: [{ kind: 'judge', code: 'c', tests, limits: { wallS: 2 }, seed: 3 }],
    });
  });

  test.each([
    [{ status: 'error', stderr: 'Traceback:\n  f(\nOdd: not closed\n' }, 'error "Odd: not closed"'],
    [{ status: 'ok' }, 'the program ended before the case'],
    [{ status: 'error' }, 'error'],
  ] as const)('says why a statement was not reached: %j', async (run, why) => {
    const { failures, problem } = await judgedBy({ ...run, verdicts: [] }, statements);
    expect(failures[0]).toBe(`"assert f(y) == 4": ${why}`);
    expect(problem).toBeUndefined();
  });

  test('runs the public statements on their own, when requested', async () => {
    const answer = { verdicts: [pass, pass, pass] };
    const judged = await judgedBy(answer, statements, { includePublic: true });
    expect(judged).toMatchObject({ passed: 4, total: 4 });
    expect(judged.asked).toMatchObject(
      [statements.public, statements.code].map((code) => ({ tests: { statements: code } })),
    );
  });

  test.each([
    ['timeout', 'timeout'],
    ['ok', 'error'],
    ['memory_limit', 'memory_limit'],
  ] as const)('fails the statements after a run that ended by %s', async (status, missing) => {
    const judged = await judgedBy({ status, verdicts: [pass], message: 'why' }, statements);
    expect(judged).toMatchObject({ passed: 1, statuses: ['passed', missing, missing] });
    const failures = statements.code.slice(1).map((code) => `"${code}": ${status} "why"`);
    expect(judged.failures).toEqual(failures);
  });

  test('cuts its failures, however long a statement is', async () => {
    const long: CodeTests = { kind: 'asserts', code: [`assert f("${'x'.repeat(1_000_000)}")`] };
    const verdicts = [{ passed: false, problem: 'E'.repeat(1_000_000) }];
    const { failures } = await judgedBy({ verdicts }, long);
    expect(failures[0]?.length).toBeLessThan(500);
  });
});

test.each([
  ['calls', squarePlusOne],
  ['statements', statements],
])('The judge by %s never blames a program for a failure of the sandbox', async (_, tests) => {
  const failed = { status: 'sandbox_error', message: 'the child died' } as const;
  expect(await judgedBy({ ...failed, verdicts: [pass, pass, pass] }, tests)).toMatchObject({
    status: 'sandbox_error',
    passed: 0,
    problem: 'the child died',
  });
});
