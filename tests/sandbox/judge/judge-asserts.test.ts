import { describe, expect, test } from '@jest/globals';

import type { CodeTests } from '#agent_rl/core/tasks/code-task.ts';
import type { JudgeResult } from '#agent_rl/core/services/sandbox.ts';
import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { hasPython } from '#tests/support/harness.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { twoProcessSandbox } from '#tests/support/two-process-sandbox.ts';

const tests: CodeTests = {
  kind: 'asserts',
  setup: 'y = 2',
  code: ['assert f(y) == 4', 'assert f(3) == 9', 'assert f(4) == 16'],
  public: ['assert f(1) == 1'],
  entry: 'f',
  names: ['f'],
};

const judged = (answer: Partial<JudgeResult>, more = {}) => {
  const sandbox = scriptedSandbox(() => answer);
  const request = { code: 'c', tests, compare: 'exact', ...more } as const;
  return judgeCode(sandbox, request).then((judgement) => ({ judgement, asked: sandbox.requests }));
};

const pass = { passed: true };

describe('Statements are judged', () => {
  test('by what became of each, the hidden ones alone', async () => {
    const verdicts = [
      pass,
      { passed: false, problem: 'AssertionError: no' },
      { passed: false, problem: 'NameError: name' },
    ];
    const { judgement, asked } = await judged({ verdicts }, { limits: { wallS: 2 }, seed: 3 });
    expect(judgement).toEqual({
      status: 'judged',
      passed: 1,
      total: 3,
      statuses: ['passed', 'wrong-answer', 'error'],
      failures: [
        '"assert f(3) == 9": "AssertionError: no"',
        '"assert f(4) == 16": "NameError: name"',
      ],
      level: 'scripted',
    });
    const { setup, code: statements, entry, names } = tests;
    const sent = { setup, statements, entry, names };
    expect(asked).toEqual([
      { kind: 'judge', code: 'c', tests: sent, limits: { wallS: 2 }, seed: 3 },
    ]);
  });

  test.each([
    [
      { status: 'error', stderr: 'Traceback:\n  f(\nSyntaxError: was never closed\n' } as const,
      'error "SyntaxError: was never closed"',
    ],
    [{ status: 'ok' } as const, 'the program ended before the case'],
    [{ status: 'error' } as const, 'error'],
  ])('as not reached by %j, and what is known of why is reported', async (run, why) => {
    const { judgement } = await judged({ ...run, verdicts: [] });
    expect(judgement.failures[0]).toBe(`"assert f(y) == 4": ${why}`);
    expect(judgement.problem).toBeUndefined();
  });

  test('the public ones too, in a run of their own, when requested', async () => {
    const { judgement, asked } = await judged(
      { verdicts: [pass, pass, pass] },
      { includePublic: true },
    );
    expect(judgement).toMatchObject({ passed: 4, total: 4 });
    expect(asked.map((request) => 'tests' in request && request.tests.statements)).toEqual([
      ['assert f(1) == 1'],
      ['assert f(y) == 4', 'assert f(3) == 9', 'assert f(4) == 16'],
    ]);
  });

  test.each([
    ['timeout', 'timeout'],
    ['ok', 'error'],
    ['memory_limit', 'memory_limit'],
  ] as const)('as not passed where the run ended before them: %s', async (status, missing) => {
    const { judgement } = await judged({ status, verdicts: [pass], message: 'why' });
    expect(judgement).toMatchObject({ passed: 1, statuses: ['passed', missing, missing] });
    expect(judgement.failures).toEqual([
      `"assert f(3) == 9": ${status} "why"`,
      `"assert f(4) == 16": ${status} "why"`,
    ]);
  });

  test('not at all where the sandbox failed, even after verdicts', async () => {
    const { judgement } = await judged({ status: 'sandbox_error', verdicts: [pass, pass, pass] });
    expect(judgement).toMatchObject({ status: 'sandbox_error', passed: 0 });
  });

  test('in failures that are cut, however long a statement is', async () => {
    const long: CodeTests = { kind: 'asserts', code: [`assert f("${'x'.repeat(1_000_000)}")`] };
    const verdicts = [{ passed: false, problem: 'E'.repeat(1_000_000) }];
    const { judgement } = await judged({ verdicts }, { tests: long });
    expect(judgement.failures[0]?.length).toBeLessThan(500);
  });
});

(hasPython ? describe : describe.skip)('With Python (skipped without python3)', () => {
  test.each([
    ['def f(x): return x * x', ['passed', 'passed', 'passed']],
    ['def f(x): return 9', ['wrong-answer', 'passed', 'wrong-answer']],
    ['def f(x): return 9 / (x - 3)', ['wrong-answer', 'error', 'wrong-answer']],
    ['f = 5', ['error', 'error', 'error']],
    ['def g(x): return x', ['error', 'error', 'error']],
    ['import os\ndef f(x): os._exit(0)', ['error', 'error', 'error']],
    ['def f(x):\n    while x == 3: pass\n    return x * x', ['passed', 'timeout', 'timeout']],
  ])('%j comes to %j', async (code, statuses) => {
    const request = { code, tests, compare: 'exact', limits: { wallS: 3 } } as const;
    expect((await judgeCode(twoProcessSandbox(), request)).statuses).toEqual(statuses);
  });
});
