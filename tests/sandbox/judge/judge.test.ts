import { describe, expect, test } from '@jest/globals';

import type { CodeTests } from '#agent_rl/core/tasks/code-task.ts';
import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { rewardHacks } from '#tests/attacks/reward-hacks.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';

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

const hacks = rewardHacks.filter(({ kind }) => kind !== 'judge');

describe('The judge', () => {
  const sandbox = startedSandbox();
  const judge = (code: string, tests: CodeTests, more = {}) =>
    judgeCode(sandbox(), { code, tests, compare: 'exact', limits: unhurriedLimits, ...more });

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

  test.each(hacks)('is not fooled by $name', async ({ code, tests: task }) => {
    if (task.calls === undefined) throw new Error('The hack is one of calls.');
    const judged = await judge(code, task.calls, {
      compare: task.compare,
      limits: { wallS: 0.7 },
    });
    expect(judged).toMatchObject({ status: 'judged', passed: 0 });
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
    expect(await judge(code, tests, { limits: { wallS: 2 } })).toMatchObject({
      passed: 1,
      statuses: ['passed', 'timeout', 'skipped'],
    });
  });

  test('never counts a failure of the sandbox as one of the program', async () => {
    const broken = scriptedSandbox(() => ({ status: 'sandbox_error', message: 'the child died' }));
    const request = { code: '', tests: squarePlusOne, compare: 'exact' } as const;
    expect(await judgeCode(broken, request)).toMatchObject({
      status: 'sandbox_error',
      passed: 0,
      problem: 'the child died',
    });
  });
});
