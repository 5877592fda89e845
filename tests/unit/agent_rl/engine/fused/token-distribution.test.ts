import { expect, test } from '@jest/globals';

import { tf, tokenDistribution, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';

const hidden = tf.tensor2d([
  [0.3, -1.2, 0.7],
  [1.1, 0.4, -0.6],
]);
const head = tf.tensor2d([
  [0.2, 0.5, -0.3],
  [-0.7, 0.1, 0.9],
  [0.4, -0.8, 0.6],
  [0.1, 0.1, 0.1],
]);
const targets = tf.tensor1d([2, 0], 'int32');

test('the token distribution has the values of tokenLogProbs', () => {
  const plain = tokenDistribution(hidden, head, targets, 0.7);
  const fused = tokenLogProbs(hidden, head, targets, { temperature: 0.7 });
  for (const name of ['logProbs', 'entropy'] as const)
    for (const [i, value] of fused[name].dataSync().entries())
      expect(plain[name].dataSync()[i]).toBeCloseTo(value, 5);
});

test('the entropy has the gradient of finite differences', () => {
  const entropy = (x: Tensor) =>
    tf.sum(tokenDistribution(x, head, targets, 0.7).entropy).asScalar();
  const slopes = tf.grad(entropy)(hidden).dataSync();
  const values = [...hidden.dataSync()];
  const at = (place: number, by: number) =>
    entropy(
      tf.tensor2d(
        values.map((value, i) => (i === place ? value + by : value)),
        [2, 3],
      ),
    ).dataSync()[0] ?? Number.NaN;
  for (const [place, slope] of slopes.entries())
    expect(slope).toBeCloseTo((at(place, 1e-2) - at(place, -1e-2)) / 2e-2, 3);
});
