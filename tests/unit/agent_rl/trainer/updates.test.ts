import { describe, expect, test } from '@jest/globals';

import { buildData } from '#agent_rl/trainer/build-data.ts';
import { correctData } from '#agent_rl/trainer/steps/correct-data.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import {
  always,
  mixed,
  never,
  options,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { groupOf, member, played } from '#tests/support/rollouts.ts';

const { algorithm } = options;
const group = (taskId: string, rewards: readonly number[], sampled = 3) => [
  groupOf(rewards.map((reward, sample) => member({ taskId, sample, reward, sampled }))),
];

describe('updatesPerBatch', () => {
  test('takes a step for each part of each pass, each with its own position in the schedule', async () => {
    const { learner, metrics } = await trained(mixed, {
      algorithm: { ...algorithm, updatesPerBatch: 2, epochs: 2 },
      train: { ...options.train, schedule: 'cosine' },
    });
    // Two tasks of two episodes: a group for each step.
    expect(learner.steps).toHaveLength(8);
    const rates = learner.steps.map(({ learningRate }) => learningRate);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    expect(new Set(rates).size).toBe(8);
    expect(metrics.map((one) => one['train/optimizerSteps'])).toEqual([4, 8]);
  });

  test('weights the tokens of a step within the step', () => {
    const { updates } = buildData(
      { groups: [group('a', [1, -1], 2), group('b', [1, -1], 6)], discarded: [] },
      { ...algorithm, updatesPerBatch: 2 },
      options.rollout,
    );
    const total = updates.map((data) =>
      data.flatMap(({ datum }) => [...datum.weights]).reduce((a, b) => a + b, 0),
    );
    expect(updates.map((data) => data.map(({ rollout: { taskId } }) => taskId))).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    for (const one of total) expect(one).toBeCloseTo(1, 6);
  });

  test('divides groups evenly, in order', () => {
    const groups = ['a', 'b', 'c', 'd', 'e'].map((name) => group(name, [1, -1]));
    const { updates } = buildData(
      { groups, discarded: [] },
      { ...algorithm, updatesPerBatch: 2 },
      options.rollout,
    );
    expect(
      updates.map((data) => [...new Set(data.map((one) => one.rollout.taskId))].join('')),
    ).toEqual(['abc', 'de']);
  });

  test('skips a step without data, and compares probabilities in the first one', async () => {
    const { trainer, learner } = setUp(
      ({ task, key: { sample } }) =>
        task.taskId === 't0' ? played({ reward: 1 }) : played({ reward: sample }),
      {
        algorithm: { ...algorithm, updatesPerBatch: 2 },
        train: { ...options.train, iterations: 1 },
      },
    );
    learner.gap = 1;
    const { code } = await rejectionOf(trainer.train(never));
    expect(code).toBe('PARITY_BROKEN');
    expect(learner.steps).toEqual([]);
  });

  test('publishes once per iteration, and not if all groups are flat', async () => {
    const { learner } = await trained(always(1), {
      algorithm: { ...algorithm, updatesPerBatch: 2 },
    });
    expect([learner.published, learner.steps.length]).toEqual([1, 0]);
  });
});

test('gives every group, and every token in it, the same weight with prompt-mean', () => {
  const { data } = buildData(
    { groups: [group('a', [1, -1], 2), group('b', [1, -1, 1], 4)], discarded: [] },
    { ...algorithm, aggregation: 'prompt-mean' },
    options.rollout,
  );
  // Two groups of 4 and 12 trained tokens.
  expect(data.map(({ datum }) => datum.weights.at(-1))).toEqual(
    [1 / 8, 1 / 8, 1 / 24, 1 / 24, 1 / 24].map(Math.fround),
  );
});

test('passes the entropy bonus to the loss, with episodes of advantage 0', async () => {
  const { learner } = await trained(always(1), {
    algorithm: { ...algorithm, entropyBonus: 0.5 },
    train: { ...options.train, iterations: 1 },
  });
  expect(learner.losses[0]).toMatchObject({ entropyBonus: 0.5 });
});

describe('A correction', () => {
  const half = {
    name: 'half',
    of: ({ behaviour }: { behaviour: Float32Array }) => behaviour.map(() => 0.5),
  };

  test('multiplies advantages, and ratios are relative to the weights before the update', async () => {
    const { updates } = buildData(
      { groups: [group('a', [1, -1], 2)], discarded: [] },
      algorithm,
      options.rollout,
    );
    const learner = new FakeLearner();
    const corrected = await correctData(learner, updates, { correction: half, temperature: 0.8 });
    const [first] = corrected.updates.flat();
    const sampled = (values: Float32Array | undefined) => [...(values ?? [])].slice(-2);
    expect(sampled(first?.datum.advantages)).toEqual([0.5, 0.5]);
    expect(sampled(first?.datum.oldLogProbs)).toEqual([-0.25, -0.25]);
    expect(sampled(first?.datum.weights)).toEqual([0.25, 0.25]);
    expect(first?.sequence).toBe(updates[0]?.[0]?.sequence);
    expect([corrected.factorMean, corrected.maskedShare]).toEqual([0.5, 0]);
    expect(learner.forwards[0]).toMatchObject({ which: 'policy', temperature: 0.8 });
  });

  test('receives log-probabilities of sampled tokens only, of generator and learner', async () => {
    const seen: unknown[] = [];
    const watching = {
      name: 'watching',
      of: (tokens: { behaviour: Float32Array; proximal: Float32Array }) => {
        seen.push([tokens.behaviour.length, [...tokens.proximal]]);
        return tokens.behaviour.map(() => 0);
      },
    };
    const { metrics } = await trained(mixed, {
      algorithm: { ...algorithm, correction: watching },
      // The made-up learner scores other than it trains.
      train: { ...options.train, iterations: 1, parityBound: { max: 1, mean: 1 } },
    });
    const [length] = seen[0] as [number];
    expect(seen[0]).toEqual([length, Array.from({ length }, () => -0.25)]);
    expect(metrics[0]).toMatchObject({ 'correction/factorMean': 0, 'correction/maskedShare': 1 });
  });

  test.each([
    ['too few factors', () => [1], '1 factors for'],
    [
      'a negative one',
      ({ behaviour }: { behaviour: Float32Array }) => behaviour.map(() => -1),
      '-1',
    ],
  ])('is refused by name if it returns %s', async (_, of, got) => {
    const { trainer } = setUp(mixed, {
      algorithm: { ...algorithm, correction: { name: 'wrong', of } },
    });
    const { code, message } = await rejectionOf(trainer.train(never));
    expect([code, message]).toEqual([
      'PLUGIN_LOAD_FAILED',
      expect.stringMatching(new RegExp(`"wrong" returned .*${got}`)),
    ]);
  });
});
