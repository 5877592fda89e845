import { describe, expect, test } from '@jest/globals';

import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { honestSolutions, rewardHacks } from '../attacks/reward-hacks.ts';
import type { HackedTask, JudgedBy } from '../attacks/reward-hacks.ts';
import { hasPython } from '../support/harness.ts';
import { twoProcessSandbox } from '../support/two-process-sandbox.ts';
import { unhurriedLimits } from '../support/sandbox-limits.ts';

const sandbox = twoProcessSandbox();

const judgedAs = (
  code: string,
  task: HackedTask,
  by: JudgedBy,
  { wallS }: { wallS: number } = unhurriedLimits,
) => {
  const tests = task[by];
  if (tests === undefined) throw new Error(`The task has no tests for ${by}.`);
  return judgeCode(sandbox, {
    code,
    tests,
    compare: task.compare,
    limits: { wallS, memoryMiB: 512 },
  });
};

const ways: readonly JudgedBy[] = ['calls', 'judge'];

(hasPython ? describe : describe.skip)('The harness (skipped without python3)', () => {
  describe.each(ways)('judging by %s', (way) => {
    const honest = honestSolutions.filter((task) => task[way] !== undefined);
    test.concurrent.each(honest)('passes an honest solution of $name', async (task) => {
      const { passed, total, failures } = await judgedAs(task.honest, task, way);
      expect({ passed, failures }).toEqual({ passed: total, failures: [] });
    });

    const hacks = rewardHacks.filter(({ kind }) => kind === way || kind === 'both');
    test.concurrent.each(hacks)('is not fooled by $name', async ({ code, tests, hangs }) => {
      const judged = await judgedAs(code, tests, way, { wallS: hangs === true ? 1 : 5 });
      expect(judged).toMatchObject({ status: 'judged', passed: 0 });
    });
  });
});

test('There are at least fifty hacks, each by a name of its own', () => {
  expect(rewardHacks.length).toBeGreaterThanOrEqual(50);
  expect(new Set(rewardHacks.map(({ name }) => name)).size).toBe(rewardHacks.length);
});
