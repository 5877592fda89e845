import { expect, test } from '@jest/globals';

import {
  mixed,
  never,
  options,
  type Script,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';
import { ratioTail } from '#agent_rl/trainer/ratio-tail.ts';
import { requireParity } from '#agent_rl/trainer/steps/parity.ts';
import { thrownBy } from '#tests/support/thrown.ts';

/** Answers the attempts at task `e`, held out, and `s`, of the selection, with these rewards in order. */
const rewarded = (rewards: Readonly<Record<string, number[]>>): Script => {
  const left = structuredClone(rewards);
  return (request) => {
    const ofTask = left[request.task.taskId];
    return ofTask === undefined ? mixed(request) : played({ reward: ofTask.shift() ?? 0 });
  };
};

test('a run evaluates before, during and after training', async () => {
  const seen: string[] = [];
  const evaluated: string[] = [];
  const { metrics, checkpoints, result } = await trained(
    rewarded({ e: [0, 1, 1, 0] }),
    {
      train: { iterations: 3 },
      eval: { before: true, after: true, every: 1 },
      checkpoint: { every: 2 },
    },
    {
      evaluation: ({ when, iteration, evaluation: { successRate } }) =>
        seen.push(`${when} ${iteration}: ${successRate}`),
      'evaluation-rollout': ({ rollout, episodes }) =>
        evaluated.push(`${rollout.taskId} of ${episodes}`),
    },
  );
  expect(seen).toEqual(['before 0: 0', 'during 1: 1', 'during 2: 1', 'after 3: 0']);
  expect(evaluated).toEqual(['e of 1', 'e of 1', 'e of 1', 'e of 1']);
  expect(checkpoints).toEqual(['periodic 2', 'last 3']);
  expect(metrics[0]).toMatchObject({
    'eval/successRate': 1,
    'eval/group/sums': 1,
    'eval/failedShare': 0,
    'eval/difference': 1,
  });
  expect(result.before?.successRate).toBe(0);
  expect(result.difference).toMatchObject({ tasks: 1, difference: 0 });
  // None is kept as the best unless that is asked for.
  expect(result.state.best).toBe(null);
});

const keepsBest = {
  train: { iterations: 3 },
  eval: { before: true, after: true, every: 2 },
  checkpoint: { keepBest: true },
};
const selecting = (...taskIds: string[]) => ({
  selectionTasks: taskIds.map((taskId) => ({ taskId, prompt: '', metadata: {} })),
});

test('the best checkpoint is chosen by the selection tasks only', async () => {
  const seen: string[] = [];
  // Held out: 0 before, 1 after iteration 2, 0 at the end. Selection: 0 after iteration 2, 1 at the end.
  const { metrics, checkpoints, rollouts, state } = await trained(
    rewarded({ e: [0, 1, 0], s: [0, 1] }),
    keepsBest,
    { evaluation: ({ when, iteration }) => seen.push(`${when} ${iteration}`) },
    selecting('s'),
  );
  expect(seen).toEqual(['before 0', 'during 2', 'selection 2', 'selection 3', 'after 3']);
  expect(checkpoints).toEqual(['best 2', 'best 3', 'last 3']);
  expect(state).toMatchObject({ best: { iteration: 3, successRate: 1 }, selectionTasks: 1 });
  expect(metrics.map((line) => line['selection/successRate'])).toEqual([undefined, 0, 1]);
  // The task of the selection is only ever evaluated.
  const attempted = rollouts.requests.filter(({ task }) => task.taskId === 's');
  expect(attempted.map(({ sampling }) => sampling.temperature)).toEqual([0, 0]);
});

test('the earlier of two equal checkpoints stays the best', async () => {
  const script = rewarded({ e: [0, 0, 0], s: [1, 1] });
  const { checkpoints, state } = await trained(script, keepsBest, {}, selecting('s'));
  expect(checkpoints).toEqual(['best 2', 'last 3']);
  expect(state.best).toEqual({ iteration: 2, successRate: 1 });
});

test('a run with keepBest needs held-out tasks, the same ones on resume', async () => {
  await expect(trained(mixed, keepsBest)).rejects.toThrow('needs held-out tasks');
  const { state } = await trained(mixed, keepsBest, {}, selecting('s'));
  const goesOn = setUp(mixed, keepsBest, {}, selecting('s', 'u'));
  goesOn.trainer.restore(state);
  await expect(goesOn.trainer.train(never)).rejects.toThrow('holds out 1 tasks');
});

test('a run discards an interrupted evaluation', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const { trainer, checkpoints } = setUp(
    mixed,
    { eval: { before: true } },
    { 'evaluation-rollout': () => stop.abort(), evaluation: ({ when }) => seen.push(when) },
  );
  const { before, state } = await trainer.train(stop.signal);
  expect([before, state.before]).toEqual([undefined, null]);
  expect([seen, checkpoints]).toEqual([[], ['interrupted 0']]);
});

test('a run makes the baseline once, also when it is resumed', async () => {
  const changes = { eval: { before: true } };
  const { state, before } = await trained(mixed, changes);
  expect(before?.rollouts).toHaveLength(1);
  const goesOn = async (from: typeof state) => {
    const { trainer, rollouts } = setUp(mixed, changes);
    trainer.restore(from);
    const result = await trainer.train(never);
    expect(rollouts.requests).toEqual([]);
    return result.before;
  };
  expect(await goesOn(state)).toEqual({ ...before, rollouts: [] });
  expect(await goesOn({ ...state, before: null })).toBeUndefined();
});

test('a run reports its activities', async () => {
  const phases: string[] = [];
  await trained(
    mixed,
    { train: { iterations: 2 }, eval: { before: true }, checkpoint: { every: 1 } },
    {
      phase: ({ type: _type, iteration, ...phase }) =>
        phases.push(`${iteration} ${Object.values(phase).join(' ')}`),
    },
  );
  const iteration = (done: number): string[] => [
    `${done} collect ${options.rollout.tasksPerStep * options.rollout.groupSize}`,
    `${done} update`,
    `${done} publish`,
    `${done + 1} checkpoint`,
  ];
  expect(phases).toEqual(['0 evaluate before 1', ...iteration(0), ...iteration(1)]);
});

test('the totals cover all iterations and epochs', async () => {
  const { trainer, learner, metrics } = setUp(
    mixed,
    { algorithm: { epochs: 3 }, train: { parityBound: { max: 1, mean: 1 } } },
    // The second iteration agrees better than the first.
    { iteration: () => (learner.gap = 0.125) },
  );
  learner.gap = 0.25;
  const { state } = await trainer.train(never);
  const gaps = { 'parity/maxAbsLogProbGap': 0.25, 'parity/meanAbsLogProbGap': 0.25 };
  expect(metrics[0]).toMatchObject(gaps);
  // 2 iterations of 4 episodes of 2 tokens and 3 sampled ones.
  expect(state.totals).toMatchObject({
    outcomes: { completed: 8 },
    ledger: { trained: 24, resampled: 0 },
    sampledTokens: 24,
    updatedTokens: 2 * 3 * 20,
    parityTokens: 24,
    maxAbsLogProbGap: 0.25,
    sumAbsLogProbGap: 12 * 0.25 + 12 * 0.125,
  });
});

test('the report of an iteration has means over trained tokens, and the rate of its last step', async () => {
  const { metrics } = await trained(mixed, {
    // Its weights do not sum to 1.
    algorithm: { epochs: 2, aggregation: 'constant' },
    train: { iterations: 1, schedule: 'cosine' },
  });
  expect(metrics[0]).toMatchObject({
    'train/microBatches': 2,
    'sent/advantageMean': 0,
    'sent/advantageStd': 0.5,
    'train/optimizerSteps': 2,
  });
  expect(metrics[0]?.['sent/ratio']).toBeCloseTo(1, 6);
  // Half a cosine over 2 steps: (1 + cos 90°) / 2.
  expect(metrics[0]?.['train/learningRate']).toBeCloseTo(0.5, 12);
});

test('tokens whose probability changed by more than a factor of 2 count by their weight, and NaN too', () => {
  const sent = (weights: number[], ratios: number[]) => ({
    datum: {
      tokens: new Int32Array(weights.length),
      weights: Float32Array.from(weights),
      advantages: new Float32Array(weights.length),
      oldLogProbs: Float32Array.from(weights, () => -1),
    },
    update: 0,
    logProbs: new Float32Array(weights.length),
    lastLogProbs: Float32Array.from(ratios, (ratio) => Math.log(ratio) - 1),
  });
  // Of a weight of 1 in all: 0.25 at 3 and 0.125 at 0.4; the token without weight was not sent.
  const both = [sent([0, 0.25, 0.5], [9, 3, 1.9]), sent([0.125, 0.125], [0.4, 0.6])];
  expect(ratioTail(both)).toBeCloseTo(0.375, 9);
  expect(ratioTail([sent([1], [Number.NaN])])).toBe(1);
  expect(ratioTail([])).toBeUndefined();
});

test('a gap at the bounds is accepted, and a larger maximum or mean is refused', () => {
  const gap = { tokens: 4, max: 0.4, sum: 0.8, worst: 'token 2' };
  const check = (max: number, mean: number) => () => requireParity(gap, { max, mean });
  expect(check(0.4, 0.2)).not.toThrow();
  expect(thrownBy(check(0.39, 0.2)).code).toBe('PARITY_BROKEN');
  expect(thrownBy(check(0.4, 0.19)).message).toContain(
    '0.4 (allowed 0.4), the mean 0.2 (allowed 0.19) over 4 tokens. Worst: token 2.',
  );
});
