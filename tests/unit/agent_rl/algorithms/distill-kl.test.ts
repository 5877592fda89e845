import { afterAll, describe, expect, test } from '@jest/globals';

import { distillKl, tailFloor } from '#agent_rl/algorithms/distill-kl.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { builtinLoss, clippedSpec } from '#tests/support/algorithm-parts.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

type Rows = readonly (readonly number[])[];

const tensorOf = (rows: Rows): Tensor =>
  tf.tensor2d(
    rows.flat().map((one) => one),
    [rows.length, rows[0]!.length],
  );
const logs = (rows: Rows): Rows => rows.map((row) => row.map(Math.log));

function klOf(student: Rows, teacher: Rows) {
  const { kl, floored } = distillKl(tensorOf(logs(student)), tensorOf(logs(teacher)));
  return { kl: [...kl.dataSync()], floored: [...floored.dataSync()] };
}

/** The definition, in float64. */
function oracle(student: readonly number[], teacher: readonly number[]): number {
  const withTail = (some: readonly number[]) => [
    ...some,
    1 - some.reduce((sum, one) => sum + one, 0),
  ];
  const [p, q] = [withTail(student), withTail(teacher)];
  return p.reduce((sum, one, i) => sum + one * Math.log(one / q[i]!), 0);
}

/** A distribution over more tokens than are listed, and its most likely or any others. */
const drawn = (rng: KeyedRng, sharp: number): number[] => {
  const values = Array.from({ length: 9 }, () => Math.exp(sharp * rng.normal()));
  const sum = values.reduce((all, one) => all + one, 0);
  return values.map((one) => one / sum).slice(0, 4);
};

describe('distillKl', () => {
  test('has the values of three divergences that were worked out by hand', () => {
    // (0.5, 0.25 | 0.25) to (0.25, 0.25 | 0.5): 0.5 log 2 - 0.25 log 2.
    const even = klOf([[0.5, 0.25]], [[0.25, 0.25]]);
    expect(even.kl[0]).toBeCloseTo(0.25 * Math.log(2), 6);
    // (0.1 | 0.9) to (0.9 | 0.1): 0.8 log 9.
    const far = klOf([[0.1]], [[0.9]]);
    expect(far.kl[0]).toBeCloseTo(0.8 * Math.log(9), 5);
    expect([even.floored, far.floored]).toEqual([[0], [0]]);
    expect(klOf([[0.7, 0.2]], [[0.7, 0.2]]).kl).toEqual([0]);
  });

  test('equals its definition on random distributions, flat and sharp', () => {
    const rng = new KeyedRng(1, 'distil');
    const some = Array.from({ length: 60 }, (_, i) => [
      drawn(rng, 0.3 + (i % 5)),
      drawn(rng, 0.3 + (i % 4)),
    ]);
    const { kl } = klOf(
      some.map(([student]) => student!),
      some.map(([, teacher]) => teacher!),
    );
    for (const [i, [student, teacher]] of some.entries()) {
      const expected = oracle(student!, teacher!);
      expect(kl[i]).toBeGreaterThanOrEqual(0);
      expect(Math.abs(kl[i]! - expected)).toBeLessThan(1e-5 * (1 + expected));
    }
  });

  test('is 0 where both agree and finite where nothing is left, and says so', () => {
    const certain = [[1 - 1e-9, 1e-12]];
    expect(klOf(certain, certain)).toEqual({ kl: [0], floored: [1] });
    const { kl, floored } = klOf(certain, [[0.5, 0.2]]);
    expect(kl[0]).toBeCloseTo(Math.log(2), 4);
    expect(floored).toEqual([1]);
    const unlikely = klOf([[1e-30, 1e-30]], [[1 - 2e-7, 1e-7]]);
    // All of the student's probability is in a tail that the teacher does not have.
    expect(unlikely.kl[0]).toBeCloseTo(-Math.log(tailFloor), 3);
    expect(unlikely.floored).toEqual([1]);
  });

  test('has the gradient of its finite differences, through the logits of a whole vocabulary', () => {
    const ids = tf.tensor1d([2, 0, 3], 'int32');
    const teacher = tensorOf(logs([[0.4, 0.3, 0.1]]));
    const of = (logits: Tensor): Tensor => {
      const student = tf.reshape(tf.gather(tf.logSoftmax(logits), ids), [1, 3]);
      return tf.sum(distillKl(student, teacher).kl);
    };
    const at = [0.3, -0.5, 1.1, 0.2, -0.1];
    const gradient = [
      ...tf
        .grad(of as never)(tf.tensor1d(at))
        .dataSync(),
    ];
    const exact = (values: readonly number[]): number => {
      const exps = values.map(Math.exp);
      const sum = exps.reduce((a, b) => a + b, 0);
      return oracle(
        [2, 0, 3].map((id) => exps[id]! / sum),
        [0.4, 0.3, 0.1],
      );
    };
    const h = 1e-5;
    for (const [i, slope] of gradient.entries()) {
      const moved = (by: number): number => exact(at.with(i, at[i]! + by));
      expect(slope).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 5);
    }
  });
});

describe('policyLoss with a teacher', () => {
  const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  afterAll(() => engine.close());

  const spec = clippedSpec(0.2, 0.3, { distill: { topK: 2, weight: 3 } });
  const column = (...values: number[]) => tf.tensor1d(values);
  const batch = (student: Tensor, teacher: Tensor) => ({
    logProbs: column(-1, -1),
    oldLogProbs: column(-1, -1),
    advantages: column(2, Number.NaN),
    weights: column(0.5, 0),
    top: { logProbs: student, teacher },
  });
  const student = logs([
    [0.5, 0.25],
    [Number.NaN, 2],
  ]);
  const teacher = logs([
    [0.25, 0.25],
    [1, 1],
  ]);

  test('adds the weighted divergence of trained tokens, whatever the others hold', () => {
    const loss = (top: Tensor) =>
      policyLoss(batch(top, tensorOf(teacher)), spec, builtinLoss('clipped'));
    const { loss: total, sums } = loss(tensorOf(student));
    const kl = 0.25 * Math.log(2);
    expect(total.dataSync()[0]).toBeCloseTo(0.5 * (-2 + 3 * kl), 5);
    expect(sums['distillKl']!.dataSync()[0]).toBeCloseTo(0.5 * kl, 6);
    expect(sums['distillTailFloored']!.dataSync()[0]).toBe(0);
    const of = (top: Tensor) => loss(top).loss.asScalar();
    const slopes = tf.grad(of)(tensorOf(student));
    // p_i times log(p_i / q_i) less that of the tail, times weights.
    const expected = [0.5 * (2 * Math.log(2)), 0.25 * Math.log(2), 0, 0].map((one) => 1.5 * one);
    expect([...slopes.dataSync()]).toEqual(expected.map((one) => expect.closeTo(one, 5)));
  });

  test('computes the same as a compiled program', async () => {
    const body: ProgramBody = ({ own, theirs }) => {
      const of = (top: Tensor) => {
        const { loss } = policyLoss(batch(top, theirs!), spec, builtinLoss('clipped'));
        return loss.asScalar();
      };
      const { value, grads } = tf.valueAndGrads(of)([own!]);
      return { value, gradient: grads[0]! };
    };
    const data = {
      own: Float32Array.from(student.flat()),
      theirs: Float32Array.from(teacher.flat()),
    };
    const specs = ['own', 'theirs'].map(
      (name) => ({ name, shape: [2, 2], dtype: 'float32' }) as const,
    );
    const program = await engine.compile(specs, body);
    const made = await program.run(data);
    const eager = body({ own: tensorOf(student), theirs: tensorOf(teacher) });
    for (const [name, tensor] of Object.entries(eager))
      expect([...made[name]!]).toEqual([...tensor.dataSync()].map((one) => expect.closeTo(one, 5)));
  });

  test('refuses a batch without the teacher', () => {
    const { top: _, ...without } = batch(tensorOf(student), tensorOf(teacher));
    expect(() => policyLoss(without, spec, builtinLoss('clipped'))).toThrow(
      'needs the likeliest tokens of the teacher',
    );
  });
});
