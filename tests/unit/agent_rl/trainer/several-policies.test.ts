import { describe, expect, test } from '@jest/globals';

import type { Part } from '#agent_rl/core/rollout.ts';
import { type Changes, type Script, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import { part as partOf, rollout } from '#tests/support/rollouts.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const part = (agent: string, policy: string, sketch: Parameters<typeof partOf>[0]): Part => ({
  ...partOf({ ...sketch, agent }),
  policy,
});

/** A speaker of the top level with two tokens, and a guesser of a policy of its own with three. */
const duet: Script = ({ key: { sample } }) =>
  rollout([
    part('speaker', 'policy', { reward: sample, sampled: 2 }),
    part('guesser', 'other', { reward: 1 - sample, sampled: 3 }),
  ]);

const both = () => {
  const [own, other] = [new FakeLearner(), new FakeLearner()];
  const policies = new Map([
    ['policy', { learner: own, weights: own }],
    ['other', { learner: other, weights: other }],
  ]);
  return { own, other, parts: { policies } };
};

const trainedOnce = async (script: Script, changes: Changes = {}) => {
  const { own, other, parts } = both();
  const run = await trained(script, { train: { iterations: 1 }, ...changes }, {}, parts);
  return { own, other, ...run };
};

const weightOf = (learner: FakeLearner) =>
  learner.batches.flat().reduce((sum, { weights }) => weights.reduce((a, b) => a + b, sum), 0);

describe('A run with two policies that learn', () => {
  test('gives each learner the tokens that its policy sampled, with weights that add up to 1', async () => {
    const { own, other, metrics } = await trainedOnce(duet);
    const sampled = ({ batches }: FakeLearner) =>
      batches.flat().map(({ weights }) => weights.filter((one) => one !== 0).length);
    expect([sampled(own), sampled(other)]).toEqual([
      [2, 2, 2, 2],
      [3, 3, 3, 3],
    ]);
    // Together they would weigh 8 / 20 and 12 / 20.
    expect(weightOf(own)).toBeCloseTo(1, 6);
    expect(weightOf(other)).toBeCloseTo(1, 6);
    expect([own, other].map(({ steps }) => steps.length)).toEqual([1, 1]);
    expect(metrics[0]).toMatchObject({
      'train/trainedTokens': 20,
      'train/loss': expect.closeTo(1, 6),
      'policyLoss/other': expect.closeTo(1, 6),
      'policyGradNorm/other': 1,
    });
  });

  test('publishes both before the first iteration and after each', async () => {
    const { own, other } = await trainedOnce(duet);
    expect([own.published, other.published]).toEqual([2, 2]);
  });

  test('takes no step of a policy whose tokens teach nothing, and still publishes it', async () => {
    const flat: Script = (request) => {
      const [speaker, guesser] = duet(request).parts as [Part, Part];
      return rollout([speaker, { ...guesser, reward: 1 }]);
    };
    const { own, other, metrics } = await trainedOnce(flat);
    expect([own.steps.length, other.steps.length]).toEqual([1, 0]);
    expect(other.published).toBe(2);
    expect(metrics[0]).not.toHaveProperty('policyLoss/other');
  });

  test('subtracts the KL of each part as its own learner and the reference score it', async () => {
    const kl = { klInReward: { kind: 'k1', weight: 1 } } as const;
    const { own, other, parts } = both();
    [own.ofPolicy, other.ofPolicy] = [-0.25, -0.75];
    const { metrics } = await trained(
      duet,
      { train: { iterations: 1 }, algorithm: kl },
      {},
      { ...parts },
    );
    // Against -0.25: 0 nats of each speaker, 3 · -0.5 of each guesser, over 20 tokens of 8 parts.
    expect(metrics[0]?.['rollout/klMean']).toBeCloseTo((4 * 3 * -0.5) / 20, 12);
    expect([own, other].map(({ forwards }) => forwards.map(({ which }) => which))).toEqual([
      ['policy', 'reference'],
      ['policy', 'reference'],
    ]);
  });

  test('stops where either learner disagrees with what was sampled, and shows the wider gap', async () => {
    const { other, parts } = both();
    other.gap = 0.5;
    const { trainer } = setUp(duet, { train: { iterations: 1 } }, {}, parts);
    const failure = await rejectionOf(trainer.train(new AbortController().signal));
    expect(failure).toMatchObject({ code: 'PARITY_BROKEN' });
    const wide = both();
    wide.other.gap = 0.0005;
    const bound = { train: { iterations: 1, parityBound: { max: 1, mean: 1 } } };
    const { metrics } = await trained(duet, bound, {}, wide.parts);
    expect(metrics[0]?.['parity/maxAbsLogProbGap']).toBeCloseTo(0.0005, 6);
    // 12 of 20 tokens differ.
    expect(metrics[0]?.['parity/meanAbsLogProbGap']).toBeCloseTo(0.0003, 6);
  });
});
