import { describe, expect, test } from '@jest/globals';

import { crossEntropyLoss, policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { builtinLoss, clippedSpec } from '#tests/support/algorithm-parts.ts';

const clipped = builtinLoss('clipped');

interface Row {
  logProbs: number[];
  oldLogProbs: number[];
  refLogProbs?: number[];
  advantages: number[];
  weights: number[];
}

const plain = clippedSpec(0.2, 0.3);
const withKl = (kind: 'none' | 'k1' | 'k2' | 'k3', weight = 1) =>
  clippedSpec(0.2, 0.3, { kl: { kind, weight } });

const tensors = ({ refLogProbs, ...row }: Row) => ({
  logProbs: tf.tensor1d(row.logProbs),
  oldLogProbs: tf.tensor1d(row.oldLogProbs),
  advantages: tf.tensor1d(row.advantages),
  weights: tf.tensor1d(row.weights),
  ...(refLogProbs === undefined ? {} : { refLogProbs: tf.tensor1d(refLogProbs) }),
});

const evaluate = (row: Row, spec: PolicyLossSpec) => {
  const { loss, sums } = policyLoss(tensors(row), spec, clipped);
  const values = Object.entries(sums).map(([name, sum]) => [name, sum.dataSync()[0] ?? NaN]);
  const named = Object.fromEntries(values) as Record<string, number>;
  return { loss: loss.dataSync()[0] ?? NaN, sums: named };
};

/** The gradient of a scalar at these values. */
const slopes = (of: (at: Tensor) => Tensor, at: readonly number[]): number[] => [
  ...tf
    .grad(of as never)(tf.tensor1d([...at]))
    .dataSync(),
];

const gradient = (row: Row, spec: PolicyLossSpec): number[] => {
  const of = (logProbs: Tensor) =>
    policyLoss({ ...tensors(row), logProbs }, spec, clipped).loss.asScalar();
  return slopes(of, row.logProbs);
};

/** One token with this ratio, advantage and weight. */
const token = (ratio: number, advantage: number, weight = 1): Row => ({
  logProbs: [Math.log(ratio)],
  oldLogProbs: [0],
  advantages: [advantage],
  weights: [weight],
});

describe('policyLoss', () => {
  test('is minus weight times advantage while the policy is unchanged', () => {
    const logProbs = [-1, -2];
    const row = { logProbs, oldLogProbs: logProbs, advantages: [2, -1], weights: [0.5, 0.25] };
    expect(evaluate(row, plain).loss).toBeCloseTo(-(0.5 * 2 - 0.25), 6);
    expect(gradient(row, plain)).toEqual([-1, 0.25]);
  });

  // The gradient with respect to the log-probability is -ratio A unless clipped.
  test.each([
    ['good past the upper bound: clipped', 1.5, 2, -1.3 * 2, 0],
    ['good below the lower bound: free', 0.5, 2, -0.5 * 2, -0.5 * 2],
    ['bad below the lower bound: clipped', 0.5, -2, 0.8 * 2, 0],
    ['bad past the upper bound: free', 1.5, -2, 1.5 * 2, 1.5 * 2],
    ['within the bounds: free', 1.25, 2, -1.25 * 2, -1.25 * 2],
  ])('handles a token that is %s', (_, ratio, advantage, ...[loss, slope]) => {
    expect(evaluate(token(ratio, advantage), plain).loss).toBeCloseTo(loss, 5);
    expect(gradient(token(ratio, advantage), plain)[0]).toBeCloseTo(slope, 5);
  });

  test('counts the weight of clipped tokens, not their number', () => {
    const logProbs = [Math.log(1.5), 0, Math.log(1.5)];
    const advantages = [1, 1, -1];
    const row = { logProbs, oldLogProbs: [0, 0, 0], advantages, weights: [0.25, 0.5, 0.15] };
    const { sums } = evaluate(row, plain);
    expect(sums['clipFraction']).toBeCloseTo(0.25, 6);
    expect(sums['ratio']).toBeCloseTo(0.25 * 1.5 + 0.5 + 0.15 * 1.5, 6);
    expect(sums['oldPolicyKl']).toBeCloseTo(-0.4 * Math.log(1.5), 6);
    expect(sums['guarded']).toBe(0);
    expect(sums).not.toHaveProperty('kl');
  });

  // Policy twice as likely as the reference: d = log 2.
  const half = [Math.log(0.5)];
  const quarter = [Math.log(0.25)];
  const pulled = { ...token(1, 0), logProbs: half, oldLogProbs: half, refLogProbs: quarter };
  const d = Math.log(2);
  test.each([
    ['k1', d, d],
    ['k2', d ** 2 / 2, d],
    ['k3', 0.5 + d - 1, 0.5],
  ] as const)('%s has its value and pulls towards the reference', (kind, value, slope) => {
    const { loss, sums } = evaluate(pulled, withKl(kind, 3));
    expect(sums['kl']).toBeCloseTo(value, 6);
    expect(loss).toBeCloseTo(3 * value, 5);
    expect(gradient(pulled, withKl(kind, 3))[0]).toBeCloseTo(3 * slope, 5);
  });

  test('adds the KL term to the surrogate', () => {
    const row = { ...pulled, advantages: [2], weights: [0.5] };
    expect(evaluate(row, withKl('k2', 3)).loss).toBeCloseTo(0.5 * (-2 + (3 * d ** 2) / 2), 6);
  });

  test('ignores the values of tokens of weight 0', () => {
    const row = {
      logProbs: [-1, NaN, -Infinity, 800],
      oldLogProbs: [-1, 0, 0, -800],
      refLogProbs: [-1, NaN, 900, -900],
      advantages: [1, NaN, Infinity, 1],
      weights: [0.5, 0, 0, 0],
    };
    for (const kind of ['k1', 'k2', 'k3'] as const) {
      const { loss, sums } = evaluate(row, withKl(kind));
      expect(loss).toBeCloseTo(-0.5, 6);
      expect(Object.values(sums).every(Number.isFinite)).toBe(true);
      expect(gradient(row, withKl(kind))).toEqual([-0.5, 0, 0, 0]);
    }
  });

  test('cuts a huge difference to 20 nats, counts it, and gives it no gradient', () => {
    const old = { oldLogProbs: [-1, -1], refLogProbs: [-1, -1] };
    const row = { logProbs: [-200, -1], ...old, advantages: [0, 0], weights: [0.25, 0.5] };
    const { loss, sums } = evaluate(row, withKl('k3', 1e-9));
    expect(loss).toBeCloseTo(0.25 * 1e-9 * Math.exp(20), 3);
    expect(sums['guarded']).toBe(0.25);
    expect(gradient(row, withKl('k3'))[0]).toBeCloseTo(0, 10);
    expect(evaluate({ ...row, logProbs: [30, -1] }, plain).sums['guarded']).toBe(0.25);
  });

  test('refuses tensors of different lengths and a KL term without a reference', () => {
    expect(() => evaluate({ ...token(1, 1), weights: [1, 1] }, plain)).toThrow(
      'weights must have the shape of logProbs, [1], got [2]',
    );
    expect(() => evaluate(token(1, 1), withKl('k3'))).toThrow(
      '"k3" KL term needs log-probabilities of the reference',
    );
  });

  test.each(['none', 'k2', 'k3'] as const)(
    'has the gradient of its finite differences with %s',
    (kind) => {
      const row: Row = {
        logProbs: [-1.1, -0.4, -2.2, -0.9],
        oldLogProbs: [-1, -0.5, -1.4, -1.6],
        refLogProbs: [-0.7, -0.9, -2, -1.3],
        advantages: [1.2, -0.7, 0.4, -1.5],
        weights: [0.4, 0.3, 0.2, 0.1],
      };
      const spec = withKl(kind, 0.7);
      const h = 1e-2;
      gradient(row, spec).forEach((slope, i) => {
        const moved = (by: number): number =>
          evaluate({ ...row, logProbs: row.logProbs.with(i, row.logProbs[i]! + by) }, spec).loss;
        expect(slope).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 3);
      });
    },
  );
});

describe('The KL terms in expectation', () => {
  // A policy over three tokens, p = softmax(logits), and a reference r. All tokens are enumerated, so the
  // expectation over samples is exact: weight p, without gradient.
  const logits = [0.3, -0.5, 1.1];
  const softmax = (values: readonly number[]): number[] => {
    const exps = values.map(Math.exp);
    const sum = exps.reduce((a, b) => a + b);
    return exps.map((value) => value / sum);
  };
  const p = softmax(logits);
  const r = [0.5, 0.3, 0.2];
  const expectedGradient = (kind: 'k1' | 'k2' | 'k3'): number[] => {
    const references = { oldLogProbs: p.map(Math.log), refLogProbs: r.map(Math.log) };
    const row = { logProbs: p, ...references, advantages: [0, 0, 0], weights: p };
    const loss = (x: Tensor) => {
      const inputs = { ...tensors(row), logProbs: tf.logSoftmax(x) };
      return policyLoss(inputs, withKl(kind), clipped).loss.asScalar();
    };
    return slopes(loss, logits);
  };

  test.each(['k1', 'k2'] as const)('%s descends KL(policy || reference)', (kind) => {
    // d KL(p || r) / d logit_i = p_i (log p_i / r_i - KL).
    const logs = p.map((value, i) => Math.log(value / (r[i] ?? NaN)));
    const kl = p.reduce((sum, value, i) => sum + value * (logs[i] ?? NaN), 0);
    expectedGradient(kind).forEach((slope, i) => {
      expect(slope).toBeCloseTo((p[i] ?? NaN) * ((logs[i] ?? NaN) - kl), 5);
    });
  });

  test('k3 descends KL(reference || policy)', () => {
    // d KL(r || p) / d logit_i = p_i - r_i.
    expectedGradient('k3').forEach((slope, i) => {
      expect(slope).toBeCloseTo((p[i] ?? NaN) - (r[i] ?? NaN), 5);
    });
  });
});

test('crossEntropyLoss sums weighted negative log-probabilities and ignores weight 0', () => {
  const loss = crossEntropyLoss(tf.tensor1d([-2, NaN, -1]), tf.tensor1d([0.5, 0, 0.25]));
  expect(loss.dataSync()[0]).toBe(1.25);
});
