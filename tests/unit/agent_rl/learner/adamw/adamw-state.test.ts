import { expect, test } from '@jest/globals';

import { AdamwState, pieceLength, updatePiece } from '#agent_rl/learner/adamw/adamw-state.ts';

const moments = { beta1: 0.9, beta2: 0.99, eps: 0 };
const options = { ...moments, learningRate: 0.1, weightDecay: 0.5, maxGradNorm: Infinity };

/** A matrix, which decays, and a vector, which does not, each of one weight of 2. */
const state = () => {
  const parameters = new Map([
    ['matrix', Float32Array.of(2)],
    ['vector', Float32Array.of(2)],
  ]);
  const optimizer = new AdamwState(parameters, new Set(['matrix']));
  const step = (gradient: number, more: Partial<typeof options> = {}) => {
    for (const name of parameters.keys()) optimizer.accumulate(name, Float32Array.of(gradient));
    return optimizer.step({ ...options, ...more });
  };
  const weightOf = (name: string): number => parameters.get(name)?.[0] ?? Number.NaN;
  return { optimizer, step, weightOf };
};

test('the first step moves a weight by the learning rate, a matrix after decay, with eps outside the root', () => {
  const { optimizer, step, weightOf } = state();
  // m = 0.4, v = 0.16; corrected 4 and 16; update 4 / 4 = 1. 2 (1 - 0.05) - 0.1 = 1.8.
  step(4);
  expect(weightOf('matrix')).toBeCloseTo(1.8, 6);
  expect(weightOf('vector')).toBeCloseTo(1.9, 6);
  expect(optimizer.m.get('matrix')?.[0]).toBeCloseTo(0.4, 6);
  expect(optimizer.v.get('matrix')?.[0]).toBeCloseTo(0.16, 6);
  // As above with eps = 4: update 4 / (4 + 4) = 0.5.
  const other = state();
  other.step(4, { eps: 4 });
  expect(other.weightOf('vector')).toBeCloseTo(2 - 0.05, 6);
});

test('the gradients of all parameters together are clipped to the greatest norm', () => {
  const { optimizer, step } = state();
  // Two gradients of 4 have the norm sqrt(32); half of that leaves 2 of each.
  const { gradNorm } = step(4, { maxGradNorm: Math.sqrt(8) });
  expect(gradNorm).toBeCloseTo(Math.sqrt(32), 6);
  expect(optimizer.m.get('matrix')?.[0]).toBeCloseTo(0.2, 6);
});

test('ten steps with changing gradients match the formula in float64', () => {
  const { step, weightOf } = state();
  let [weight, m, v] = [2, 0, 0];
  for (let t = 1; t <= 10; t++) {
    const gradient = Math.sin(t);
    step(gradient, { eps: 1e-8 });
    m = 0.9 * m + 0.1 * gradient;
    v = 0.99 * v + 0.01 * gradient ** 2;
    const update = m / (1 - 0.9 ** t) / (Math.sqrt(v / (1 - 0.99 ** t)) + 1e-8);
    weight = weight * (1 - 0.1 * 0.5) - 0.1 * update;
    expect(weightOf('matrix')).toBeCloseTo(weight, 5);
  }
});

test('a step equals one pass, bit for bit, for a parameter in several pieces and one without a gradient', () => {
  const wave = (length: number, by: number): Float32Array =>
    Float32Array.from({ length }, (_, i) => (((i + 1) * by) % 1) - 0.5);
  const lengths = { long: 2 * pieceLength + 17, even: pieceLength, still: 5 };
  const parameters = new Map(Object.entries(lengths).map(([name, n]) => [name, wave(n, 0.1)]));
  const optimizer = new AdamwState(parameters, new Set());
  const gradients: Record<string, Float32Array> = {
    long: wave(lengths.long, 0.7),
    even: wave(lengths.even, 0.3),
  };
  for (const [name, gradient] of Object.entries(gradients)) optimizer.accumulate(name, gradient);
  const expected = Object.entries(lengths).map(([name, n]) => {
    const gradient = gradients[name] ?? new Float32Array(n);
    const [m, v] = [new Float32Array(n), new Float32Array(n)];
    return { weights: wave(n, 0.1), gradient, m, v, kept: 1 };
  });
  const { beta1, beta2 } = options;
  const rootCorrection = 1 / Math.sqrt(1 - beta2);
  const factors = { scale: 1, beta1, beta2, rate: 0.1 / (1 - beta1), rootCorrection, eps: 1e-8 };
  const squares = expected.reduce((sum, whole) => sum + updatePiece(whole, factors), 0);
  const { parameterNorm } = optimizer.step({ ...options, eps: 1e-8 });
  const columns = { weights: parameters, m: optimizer.m, v: optimizer.v };
  for (const [name, map] of Object.entries(columns) as [keyof typeof columns, typeof parameters][])
    for (const [at, values] of [...map.values()].entries())
      expect(String(values) === String(expected[at]![name])).toBe(true);
  expect(parameterNorm).toBeCloseTo(Math.sqrt(squares), 8);
});
