import { describe, expect, test } from '@jest/globals';

import { builtinLosses } from '#agent_rl/algorithms/losses/index.ts';
import { findLoss } from '#agent_rl/algorithms/losses/find-loss.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import { losses } from '#agent_rl/core/algorithm/loss.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { describeLossContract, lossAndGradient } from '#tests/contracts/loss-contract.ts';
import { builtinLoss, clippedSpec } from '#tests/support/algorithm-parts.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const settings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  clipped: { clipLow: 0.2, clipHigh: 0.28 },
  gspo: { clipLow: 0.2, clipHigh: 0.3 },
  cispo: { clipLow: 1, clipHigh: 4 },
  reinforce: {},
};

for (const plugin of builtinLosses) {
  const { name } = losses.specOf(plugin)!;
  describeLossContract(name, { plugin, settings: settings[name]! });
}
describeLossContract('clipped with a dual clip', {
  plugin: builtinLoss('clipped'),
  settings: { clipLow: 0.2, clipHigh: 0.28, dualClip: 3 },
});

const episode = (ratios: readonly number[], advantage: number) => ({
  logProbs: ratios.map((ratio) => Math.log(ratio) - 3),
  oldLogProbs: ratios.map(() => -3),
  advantage,
});

describe('The dual clip', () => {
  const bounds = { clipLow: 0.2, clipHigh: 0.3 };
  const dual = { plugin: builtinLoss('clipped'), settings: { ...bounds, dualClip: 3 } };

  test('bounds the loss of tokens of negative advantage, without a gradient', async () => {
    // min(5 x -2, 1.3 x -2) = -10, bounded by 3 x -2.
    const { loss, gradient, sums } = await lossAndGradient(dual, [episode([5], -2)]);
    expect(loss).toBeCloseTo(6, 5);
    expect(gradient[0]?.[0]).toBeCloseTo(0, 6);
    expect(sums['dualClipFraction']).toBe(1);
  });

  test('does not change other tokens', async () => {
    const plain = { ...dual, settings: bounds };
    for (const one of [episode([2.5], -2), episode([5], 2), episode([0.5], -1)]) {
      const { loss, sums } = await lossAndGradient(dual, [one]);
      const without = await lossAndGradient(plain, [one]);
      expect(loss).toBe(without.loss);
      expect(sums).toEqual({ ...without.sums, dualClipFraction: 0 });
    }
  });
});

describe('The GSPO loss', () => {
  const gspo = { plugin: builtinLoss('gspo'), settings: { clipLow: 0.2, clipHigh: 0.3 } };

  test('has one ratio per episode, the geometric mean, and spreads its gradient evenly', async () => {
    // √(2 x 0.5) = 1 within the bounds: each of two tokens costs -A, and d(2 s A)/d log p = 2 A / 2.
    const { loss, gradient } = await lossAndGradient(gspo, [episode([2, 0.5], 1.5)]);
    expect(loss).toBeCloseTo(-3, 5);
    expect(gradient[0]?.map((slope) => slope.toFixed(4))).toEqual(['-1.5000', '-1.5000']);
  });

  test('clips a whole episode', async () => {
    // √(4 x 1) = 2, clipped to 1.3 for the better episode, free for the worse one.
    const better = await lossAndGradient(gspo, [episode([4, 1], 1)]);
    expect(better.loss).toBeCloseTo(-2.6, 5);
    expect(better.gradient[0]).toEqual([0, 0]);
    expect(better.sums['clipFraction']).toBe(2);
    expect((await lossAndGradient(gspo, [episode([4, 1], -1)])).loss).toBeCloseTo(4, 5);
  });

  test('keeps episodes of different lengths apart', async () => {
    const two = [episode([1.1, 1.2, 0.9], 1), episode([0.85], -1)];
    const geometric = (1.1 * 1.2 * 0.9) ** (1 / 3);
    expect((await lossAndGradient(gspo, two)).loss).toBeCloseTo(-3 * geometric + 0.85, 4);
  });
});

const cispo = { plugin: builtinLoss('cispo'), settings: { clipLow: 0.5, clipHigh: 1 } };

test('the CISPO loss weights the gradient by the clipped ratio, which has no gradient itself', async () => {
  // Ratios 3, 1.5 and 0.1, clipped to 2, 1.5 and 0.5; the loss is -weight A log p.
  const { loss, gradient, sums } = await lossAndGradient(cispo, [episode([3, 1.5, 0.1], 2)]);
  expect(gradient[0]?.map((slope) => slope.toFixed(3))).toEqual(['-4.000', '-3.000', '-1.000']);
  const logs = [3, 1.5, 0.1].map((ratio) => Math.log(ratio) - 3);
  expect(loss).toBeCloseTo(-(4 * logs[0]! + 3 * logs[1]! + logs[2]!), 4);
  expect(sums['clipFraction']).toBe(2);
});

test('the REINFORCE loss is minus advantage times log-probability, whatever the ratio', async () => {
  const reinforce = { plugin: builtinLoss('reinforce'), settings: {} };
  const one = { logProbs: [-0.5, -2], oldLogProbs: [-9, -0.1], advantage: 2 };
  const { loss, gradient } = await lossAndGradient(reinforce, [one]);
  expect(loss).toBeCloseTo(5, 6);
  expect(gradient).toEqual([[-2, -2]]);
});

test('the entropy bonus is subtracted from the loss of trained tokens', () => {
  const row = {
    logProbs: tf.tensor1d([-1, -1, 0]),
    oldLogProbs: tf.tensor1d([-1, -1, 0]),
    advantages: tf.tensor1d([0, 0, 0]),
    weights: tf.tensor1d([0.5, 0.25, 0]),
    entropy: tf.tensor1d([2, 4, Number.NaN]),
  };
  const spec = clippedSpec(0.2, 0.3, { entropyBonus: 0.1 });
  const { loss } = policyLoss(row, spec, builtinLoss('clipped'));
  expect(loss.dataSync()[0]).toBeCloseTo(-0.1 * (0.5 * 2 + 0.25 * 4), 6);
});

test('a loss that uses sequenceMean without declaring it is refused', async () => {
  const asks = (batch: { logProbs: never; sequenceMean: (x: never) => never }) => ({
    losses: batch.sequenceMean(batch.logProbs),
  });
  const computing = lossAndGradient({ plugin: asks, settings: {} }, [episode([1], 1)]);
  await expect(computing).rejects.toThrow('perSequence: true');
});

test.each([
  [{ type: 'none-of-ours' }, 'this package exports no loss named "none-of-ours"'],
  [{ type: 'x', module: 'file:///nowhere/loss.mjs' }, 'could not be imported by the engine'],
])('findLoss refuses %j', async (named, problem) => {
  expect(await rejectionOf(findLoss(named))).toMatchObject(errorOf('PLUGIN_LOAD_FAILED', problem));
});

test('a loss whose measurement has a reserved name is refused', async () => {
  const takes = ({ logProbs: kl }: { logProbs: never }) => ({ losses: kl, metrics: { kl } });
  const computing = lossAndGradient({ plugin: takes, settings: {} }, [episode([1], 1)]);
  await expect(computing).rejects.toMatchObject({ code: 'PLUGIN_LOAD_FAILED' });
});
