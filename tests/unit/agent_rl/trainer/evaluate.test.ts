import { describe, expect, test } from '@jest/globals';

import { chooseTasks, evaluate, evaluationMetrics } from '#agent_rl/trainer/evaluate.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
import { played } from '#tests/support/rollouts.ts';

const task = (taskId: string, family: string, slice?: string) => ({
  taskId,
  prompt: '',
  metadata: { family, ...(slice !== undefined && { slice }) },
});
const tasks = [task('a', 'sums'), task('b', 'sums'), task('c', 'words')];
const { signal } = new AbortController();
const options = { samples: 2, temperature: 0.7, seed: 3, step: 4, signal };

describe('evaluate', () => {
  test('counts successes over all attempts, by family and per task', async () => {
    // a succeeds twice, b once, c never and once by no fault of the policy.
    const rollouts = new ScriptedRollouts(({ task: { taskId }, key: { sample } }) =>
      taskId === 'c' && sample === 1
        ? played({ outcome: 'infrastructure-error' })
        : played({ reward: taskId === 'a' || (taskId === 'b' && sample === 0) ? 1 : 0 }),
    );
    const result = await evaluate(rollouts, tasks, options);
    expect(result).toMatchObject({
      tasks: 3,
      n: 5,
      successes: 3,
      successRate: 0.6,
      systemFailures: 1,
      failed: 1,
      failedShare: 1 / 6,
      // 3 of 6, and 4 of 6.
      worstCase: [3 / 6, 4 / 6],
      rewardMean: 0.6,
      perTask: [
        { taskId: 'a', n: 2, successes: 2, failed: 0, groups: ['sums'], ofSlice: false },
        { taskId: 'b', n: 2, successes: 1, failed: 0 },
        { taskId: 'c', n: 1, successes: 0, failed: 1, groups: ['words'] },
      ],
      groups: {
        sums: { n: 4, successes: 3, successRate: 0.75 },
        words: { n: 1, successes: 0, successRate: 0 },
      },
      // Over a and b alone: pass@1 (1 + 1/2) / 2, pass@2 (1 + 1) / 2.
      passAtK: { 1: 0.75, 2: 1 },
      // The first attempts at both succeed, the second at a alone.
      avgAtK: { 1: 1, 2: 0.75 },
    });
    expect(result.intervalsAtK[2]?.avg.interval95?.clusters).toBe(2);
    expect(result.wilson95?.[0]).toBeLessThan(0.6);
    // Over the three tasks or the two families, not the five attempts.
    const intervals = [result.interval95, result.narrower95];
    expect(new Set(intervals.map((one) => one?.clusters))).toEqual(new Set([2, 3]));
    expect(rollouts.requests[0]?.sampling).toEqual({ temperature: 0.7, topK: 0, topP: 1, minP: 0 });
  });

  test('samples the same at every step, so that only the weights differ', async () => {
    const rollouts = new ScriptedRollouts(() => played());
    await evaluate(rollouts, tasks, options);
    await evaluate(rollouts, tasks, { ...options, step: 40 });
    const seeds = rollouts.requests.map(({ seed }) => seed);
    expect(seeds.slice(6)).toEqual(seeds.slice(0, 6));
  });

  test('reports groups of the caller’s choosing', async () => {
    const rollouts = new ScriptedRollouts(() => played({ reward: 1 }));
    const groupsOf = ({ taskId }: { taskId: string }) => ['all', taskId];
    const { groups } = await evaluate(rollouts, tasks, { ...options, groupsOf });
    const sizes = Object.entries(groups).map(([name, { n }]) => `${name} ${n}`);
    expect(sizes).toEqual(['a 2', 'all 6', 'b 2', 'c 2']);
  });

  test('fails instead of reporting 0 if every attempt failed, unless it was cancelled', async () => {
    const rollouts = new ScriptedRollouts(() => played({ outcome: 'aborted' }));
    await expect(evaluate(rollouts, tasks, options)).rejects.toMatchObject({
      code: 'ROLLOUTS_FAILED',
      message:
        'All 6 episodes ended without a reward. The first (task a) ended as aborted: it broke',
    });
    // What was cancelled was not attempted, and has not failed.
    const nothing = { wilson95: null, interval95: null, narrower95: null, worstCase: null };
    const cancelled = { ...options, signal: AbortSignal.abort() };
    expect(await evaluate(rollouts, tasks, cancelled)).toMatchObject({
      ...nothing,
      n: 0,
      successRate: null,
      failed: 0,
      failedShare: null,
      rewardMean: null,
      passAtK: {},
    });
  });

  test("averages the environment's metrics in total and by group", async () => {
    // Of the four attempts at sums three choose rightly, of the two at words none.
    const rollouts = new ScriptedRollouts(({ task: { taskId }, key: { sample } }) =>
      played({ metrics: { chosen: taskId === 'a' || (taskId === 'b' && sample === 0) ? 1 : 0 } }),
    );
    const { environment, environmentByGroup } = await evaluate(rollouts, tasks, options);
    expect(environment).toEqual({ chosen: 0.5 });
    expect(environmentByGroup).toEqual({ sums: { chosen: 0.75 }, words: { chosen: 0 } });
  });

  test('reports tasks of a slice in their group, outside the totals', async () => {
    const rollouts = new ScriptedRollouts(({ task: { taskId } }) =>
      played({ reward: taskId === 'd' ? 1 : 0 }),
    );
    const all = [...tasks, task('d', 'new', 'held out')];
    const totals = { tasks: 3, n: 6, successes: 0, rewardMean: 0, passAtK: { 1: 0, 2: 0 } };
    const groups = { new: { n: 2, successes: 2 } };
    expect(await evaluate(rollouts, all, options)).toMatchObject({ ...totals, groups });
  });
});

describe('A strategy', () => {
  // a answers rightly in two of three attempts, b wrongly in two of three, c fails once.
  const said: Readonly<Record<string, readonly string[]>> = {
    a: ['wrong', 'right', 'right'],
    b: ['right', 'wrong', 'wrong'],
    c: ['right', 'right', 'broken'],
  };
  const rollouts = new ScriptedRollouts(({ task: { taskId }, key: { sample } }) => {
    const answer = said[taskId]?.[sample] ?? '';
    return answer === 'broken'
      ? played({ outcome: 'infrastructure-error' })
      : played({ reward: Number(answer === 'right'), answer });
  });
  const voting = { ...options, samples: 3, strategy: { name: 'majority' } } as const;

  test('counts one attempt at each task, and a task with a failed attempt as failed', async () => {
    const { chosen, successes, n } = await evaluate(rollouts, tasks, voting);
    expect({ successes, n }).toEqual({ successes: 5, n: 8 });
    const votes = { strategy: 'majority', selector: 'votes', attempts: 3, undecided: 0 };
    expect(chosen).toMatchObject({
      ...votes,
      n: 2,
      successes: 1,
      successRate: 0.5,
      failed: 1,
      worstCase: [1 / 3, 2 / 3],
      groups: { sums: { n: 2, successes: 1 }, words: { n: 0, failed: 1, successRate: null } },
      perTask: [
        { taskId: 'a', n: 1, successes: 1 },
        { taskId: 'b', n: 1, successes: 0 },
        { taskId: 'c', n: 0, failed: 1 },
      ],
    });
  });

  test('is absent if every attempt counts, otherwise in the metrics', async () => {
    const all = await evaluate(rollouts, tasks, { ...options, samples: 3 });
    expect(all.chosen).toBeUndefined();
    expect(evaluationMetrics(all)).not.toHaveProperty('eval/strategySuccessRate');
    const one = await evaluate(rollouts, tasks, voting);
    const rates = { 'eval/successRate': 5 / 8, 'eval/strategySuccessRate': 0.5 };
    expect(evaluationMetrics(one)).toMatchObject(rates);
  });
});

test('chooseTasks makes a fixed choice in file order, not the first tasks', () => {
  const many = Array.from({ length: 50 }, (_, i) => task(`t${String(i).padStart(2, '0')}`, 'f'));
  const chosen = (seed: number) => chooseTasks(many, 5, seed).map(({ taskId }) => taskId);
  expect(chosen(1)).toHaveLength(5);
  expect(chosen(1)).toEqual(chosen(1).toSorted());
  expect(chosen(1)).not.toEqual(chosen(2));
  expect(chooseTasks(many, undefined, 1)).toEqual(many);
});
