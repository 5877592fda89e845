import { describe, expect, test } from '@jest/globals';

import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { honestSolutions, rewardHacks } from '#tests/attacks/reward-hacks.ts';
import type { HackedTask, JudgedBy } from '#tests/attacks/reward-hacks.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

describe.each<JudgedBy>(['calls', 'judge'])('The judge by %s', (way) => {
  const sandbox = startedSandbox({ workers: 2 });
  const judged = (code: string, task: HackedTask, wallS: number = unhurriedLimits.wallS) => {
    const { compare, [way]: tests } = task;
    if (tests === undefined) throw new Error(`The task has no tests for ${way}.`);
    return judgeCode(sandbox(), { code, tests, compare, limits: { wallS } });
  };

  const honest = honestSolutions.filter((task) => task[way] !== undefined);
  test.each(honest)('passes an honest solution of $name', async (task) => {
    const { passed, total, failures } = await judged(task.honest, task);
    expect({ passed, failures }).toEqual({ passed: total, failures: [] });
  });

  const hacks = rewardHacks.filter(({ kind }) => kind === way || kind === 'both');
  test.each(hacks)('is not fooled by $name', async ({ code, tests }) => {
    expect(await judged(code, tests, 0.7)).toMatchObject({ status: 'judged', passed: 0 });
  });
});

test('There are at least fifty hacks, each with its own name', () => {
  expect(rewardHacks.length).toBeGreaterThanOrEqual(50);
  expect(new Set(rewardHacks.map(({ name }) => name)).size).toBe(rewardHacks.length);
});
