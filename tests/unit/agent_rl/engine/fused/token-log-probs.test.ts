import { describe, expect, test } from '@jest/globals';
import { tf, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';
import { describeOperation } from '#tests/support/gradient-checks.ts';

describeOperation('tokenLogProbs', {
  inputs: { hidden: { shape: [4, 5] }, head: { shape: [7, 5] }, targets: { shape: [4], high: 7 } },
  differentiated: ['hidden', 'head'],
  operation: ({ hidden, head, targets }) =>
    tokenLogProbs(hidden!, head!, targets!, { temperature: 0.7 }).logProbs,
  composed: ({ hidden, head, targets }) => {
    const logits = tf.div(tf.matMul(hidden!, head!, false, true), 0.7);
    return tf.sum(tf.mul(tf.logSoftmax(logits), tf.oneHot(targets!, 7)), -1);
  },
});

describe('tokenLogProbs', () => {
  test('gives the entropy in nats of every row', async () => {
    // Logits [0, 0] are even: ln 2. Logits [0, ln 3] give 1/4 and 3/4: ln 4 - 3/4 ln 3.
    const { entropy } = tokenLogProbs(
      tf.tensor2d([0, 1], [2, 1]),
      tf.tensor2d([0, Math.log(3)], [2, 1]),
      tf.tensor1d([0, 1], 'int32'),
      { temperature: 1 },
    );
    const [even, uneven] = await entropy.data();
    expect(even).toBeCloseTo(Math.LN2, 5);
    expect(uneven).toBeCloseTo(0.562335, 5);
  });

  test('sends no gradient through the entropy', async () => {
    const head = tf.tensor2d([1, 2], [2, 1]);
    const gradient = tf.grad((hidden: Tensor) =>
      tf.sum(tokenLogProbs(hidden, head, tf.tensor1d([0], 'int32'), { temperature: 1 }).entropy),
    )(tf.tensor2d([0.5], [1, 1]));
    expect((await gradient.data())[0]).toBeCloseTo(0, 12);
  });

  test('is exact for a target whose probability underflows', async () => {
    const logits = [0, 200];
    const { logProbs } = tokenLogProbs(
      tf.tensor2d([1], [1, 1]),
      tf.tensor2d(logits, [2, 1]),
      tf.tensor1d([0], 'int32'),
      { temperature: 1 },
    );
    expect([...(await logProbs.data())]).toEqual([-200]);
  });
});
