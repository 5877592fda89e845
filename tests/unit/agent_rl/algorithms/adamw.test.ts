import { describe, expect, test } from '@jest/globals';

import { adamwStep, biasCorrections, clipScale, globalNorm } from '#agent_rl/algorithms/adamw.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { adamwStepReference } from '#tests/support/adamw-reference.ts';

const scalars = {
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.99,
  eps: 0,
  weightDecay: 0.5,
  clipScale: 0.5,
  ...biasCorrections(1, { beta1: 0.9, beta2: 0.99 }),
};

describe('adamwStep', () => {
  test('moves a weight by the learning rate in its first step, after decay', () => {
    // g = 8 x 0.5 = 4; m = 0.4, v = 0.16; corrected 4 and 16; update 4 / 4 = 1. 2 (1 - 0.05) - 0.1 = 1.8.
    const next = adamwStepReference({ param: [2], m: [0], v: [0] }, [8], scalars);
    expect(next.param[0]).toBeCloseTo(1.8, 12);
    expect(next.m[0]).toBeCloseTo(0.4, 12);
    expect(next.v[0]).toBeCloseTo(0.16, 12);
  });

  test('adds eps to the root, outside of it', () => {
    // As above with eps = 4: update 4 / (4 + 4) = 0.5.
    const next = adamwStepReference({ param: [2], m: [0], v: [0] }, [8], { ...scalars, eps: 4 });
    expect(next.param[0]).toBeCloseTo(1.9 - 0.05, 12);
  });

  test('agrees with the plain form over ten steps of changing gradients', () => {
    let plain = { param: [1, -2, 3], m: [0, 0, 0], v: [0, 0, 0] };
    let tensors = { param: tf.tensor1d(plain.param), m: tf.zeros([3]), v: tf.zeros([3]) };
    for (let t = 1; t <= 10; t++) {
      const gradient = [Math.sin(t), Math.cos(t), 0.1 * t];
      const step = { ...scalars, eps: 1e-8, ...biasCorrections(t, scalars) };
      plain = adamwStepReference(plain, gradient, step);
      tensors = adamwStep(tensors, tf.tensor1d(gradient), step) as typeof tensors;
    }
    for (const name of ['param', 'm', 'v'] as const) {
      [...tensors[name].dataSync()].forEach((value, i) =>
        expect(value).toBeCloseTo(plain[name][i] ?? NaN, 5),
      );
    }
  });

  test('takes its scalars as tensors, as a compiled program does', () => {
    const inputs = Object.fromEntries(
      Object.entries(scalars).map(([name, value]) => [name, tf.scalar(value)]),
    );
    const state = { param: tf.tensor1d([2]), m: tf.zeros([1]), v: tf.zeros([1]) };
    const next = adamwStep(state, tf.tensor1d([8]), inputs as never);
    expect(next.param.dataSync()[0]).toBeCloseTo(1.8, 6);
  });
});

describe('clipScale', () => {
  test('halves a gradient of twice the allowed norm and leaves a smaller one alone', () => {
    expect(clipScale(2, 1)).toBeCloseTo(0.5, 6);
    expect(clipScale(0.5, 1)).toBe(1);
    expect(clipScale(0, 1)).toBe(1);
    expect(clipScale(1e9, Infinity)).toBe(1);
  });

  test.each([NaN, Infinity])('refuses a norm of %d', (norm) => {
    expect(() => clipScale(norm, 1)).toThrow(`global norm is ${norm}`);
  });
});

test('globalNorm is taken over all gradients together', () => {
  expect(globalNorm([tf.tensor1d([3, 0]), tf.tensor2d([[4]])]).dataSync()[0]).toBe(5);
});
