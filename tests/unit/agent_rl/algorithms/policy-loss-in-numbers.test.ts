import { expect, test } from '@jest/globals';

import { findLoss } from '#agent_rl/algorithms/losses/find-loss.ts';
import { policyLossInNumbers } from '#agent_rl/algorithms/losses/policy-loss-in-numbers.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';

const length = 40;

/** One sequence with ratios on both sides of every bound, one of them beyond what is exponentiated, and tokens not trained. */
function sequence() {
  const rng = new KeyedRng(4, 'sequence');
  const random = (value: () => number): Float32Array => new Float32Array(length).map(value);
  const logProbs = random(() => -3 * rng.uniform());
  const oldLogProbs = logProbs.map((value) => value + 1.5 * (rng.uniform() - 0.5));
  oldLogProbs[7] = -30;
  const weights = random(() => (rng.uniform() < 0.7 ? 0.1 * rng.uniform() : 0));
  weights[7] = 0.2;
  const advantages = random(() => rng.normal());
  return { logProbs, datum: { tokens: new Int32Array(length), weights, advantages, oldLogProbs } };
}

test.each([
  ['clipped', { clipLow: 0.2, clipHigh: 0.28 }],
  ['clipped', { clipLow: 0.2, clipHigh: 0.28, dualClip: 2 }],
  ['cispo', { clipLow: 0.3, clipHigh: 0.4 }],
  ['gspo', { clipLow: 3e-4, clipHigh: 4e-4 }],
  ['reinforce', {}],
])("the plain value of %s %j equals the engine's", async (type, settings) => {
  const spec = policyLossSpec({ type, settings });
  const { loss } = await findLoss(spec);
  const { logProbs, datum } = sequence();
  const { weights, advantages, oldLogProbs } = datum;

  const numbers = policyLossInNumbers(datum, logProbs, { spec, loss });

  const membership = tf.tensor2d([Array.from(weights, (weight) => Number(weight !== 0))]);
  const tensors = { logProbs, oldLogProbs, advantages, weights };
  const batch = Object.fromEntries(
    Object.entries(tensors).map(([name, values]) => [name, tf.tensor1d(values)]),
  ) as Record<keyof typeof tensors, ReturnType<typeof tf.tensor1d>>;
  const oracle = policyLoss({ ...batch, membership }, spec, loss);
  const expected = Object.entries(oracle.sums).map(([name, sum]) => [name, sum.dataSync()[0]]);
  expect(Object.keys(numbers.sums).toSorted()).toEqual(Object.keys(oracle.sums).toSorted());
  for (const [name, value] of [...expected, ['loss', oracle.loss.dataSync()[0]]]) {
    const own = name === 'loss' ? numbers.loss : numbers.sums[String(name)];
    expect(Math.abs(own! - Number(value))).toBeLessThan(1e-6 + 1e-4 * Math.abs(Number(value)));
  }
  const total = numbers.losses.reduce((sum, value, place) => sum + value * weights[place]!, 0);
  expect(total).toBeCloseTo(numbers.loss, 9);
});
