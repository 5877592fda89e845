import { expect, test } from '@jest/globals';

import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { plannedBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import {
  lowRankProduct,
  recomputed,
  rmsNorm,
  ropeRotate,
  swiglu,
  tf,
  tokenDistribution,
  tokenLogProbs,
  type Tensor,
} from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle, specsOf, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  describeOperation,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

describeOperation('rmsNorm', {
  inputs: { x: { shape: [2, 3, 8] }, weight: { shape: [8] } },
  differentiated: ['x', 'weight'],
  operation: ({ x, weight }) => rmsNorm(x!, weight!, 1e-5),
  composed: ({ x, weight }) =>
    tf.mul(tf.div(x!, tf.sqrt(tf.add(tf.mean(tf.square(x!), -1, true), 1e-5))), weight!),
});

describeOperation('swiglu', {
  inputs: { gate: { shape: [4, 6] }, up: { shape: [4, 6] } },
  differentiated: ['gate', 'up'],
  operation: ({ gate, up }) => swiglu(gate!, up!),
  composed: ({ gate, up }) => tf.mul(tf.mul(gate!, tf.sigmoid(gate!)), up!),
});

for (const drops of [false, true])
  describeOperation(`lowRankProduct ${drops ? 'with' : 'without'} factors`, {
    inputs: {
      x: { shape: [4, 6] },
      a: { shape: [2, 6] },
      b: { shape: [5, 2] },
      factors: { shape: [4, 6] },
    },
    differentiated: ['x', 'a', 'b'],
    operation: ({ x, a, b, factors }) =>
      lowRankProduct(x!, a!, b!, { scale: 1.5, factors: drops ? factors! : undefined }),
    composed: ({ x, a, b, factors }) => {
      const seen = drops ? tf.mul(x!, factors!) : x!;
      return tf.mul(tf.matMul(tf.matMul(seen, a!, false, true), b!, false, true), 1.5);
    },
  });

const tables = (angles: Tensor): Tensor => tf.concat([angles, angles], 1);
const rotated: Operation = ({ x, angles }) =>
  ropeRotate(x!, tables(tf.cos(angles!)), tables(tf.sin(angles!)));
describeOperation('ropeRotate', {
  inputs: { x: { shape: [2, 3, 5, 4] }, angles: { shape: [5, 2] } },
  differentiated: ['x'],
  operation: rotated,
  /** The two-dimensional rotation of each pair (x[i], x[i + width / 2]). */
  composed: ({ x, angles }) => {
    const [a, b] = tf.split(x!, 2, -1) as [Tensor, Tensor];
    const [cos, sin] = [tf.cos(angles!), tf.sin(angles!)];
    return tf.concat(
      [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(b, cos), tf.mul(a, sin))],
      -1,
    );
  },
});

test('ropeRotate turns rows that stand where tokens would, one head each', () =>
  expectSameAsOracle({ x: { shape: [6, 4, 8] }, angles: { shape: [4, 4] } }, (tensors) => ({
    y: rotated(tensors),
  })));

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

/** Of one number for each token, behind hidden states of one number. */
const of = (hidden: number[], head: number[], targets: number[]) =>
  tokenLogProbs(
    tf.tensor2d(hidden, [hidden.length, 1]),
    tf.tensor2d(head, [head.length, 1]),
    tf.tensor1d(targets, 'int32'),
    { temperature: 1 },
  );

test('tokenLogProbs gives the entropy in nats of every row', () => {
  // Logits [0, 0] are even: ln 2. Logits [0, ln 3] give 1/4 and 3/4: ln 4 - 3/4 ln 3.
  const [even, uneven] = of([0, 1], [0, Math.log(3)], [0, 1]).entropy.dataSync();
  expect(even).toBeCloseTo(Math.LN2, 5);
  expect(uneven).toBeCloseTo(0.562335, 5);
});

test('tokenLogProbs sends no gradient through the entropy', () => {
  const head = tf.tensor2d([1, 2], [2, 1]);
  const target = tf.tensor1d([0], 'int32');
  const gradient = tf.grad((x: Tensor) =>
    tf.sum(tokenLogProbs(x, head, target, { temperature: 1 }).entropy),
  )(tf.tensor2d([0.5], [1, 1]));
  expect(gradient.dataSync()[0]).toBeCloseTo(0, 12);
});

test('tokenLogProbs is exact for a target whose probability underflows', () => {
  expect([...of([1], [0, 200], [0]).logProbs.dataSync()]).toEqual([-200]);
});

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

const inputs: RandomInputs = { x: { shape: [3, 4] }, w: { shape: [4, 4] }, v: { shape: [4, 4] } };
const differentiated = ['x', 'w', 'v'];

const block = ([x, w]: readonly Tensor[]): Tensor => {
  const inner = tf.matMul(x!, w!);
  return tf.add(x!, swiglu(inner, tf.tanh(inner)));
};
/** Two blocks: the second one's gradient is taken while the tape of the first is open. */
const kept: Operation = ({ x, w, v }) => block([block([x!, w!]), v!]);
const again: Operation = ({ x, w, v }) => recomputed([recomputed([x!, w!], block), v!], block);

test('recomputed changes neither the value nor a gradient', () =>
  expectSameGradients(inputs, differentiated, [again, kept]));

test('recomputed compiles to the same value and gradients', () =>
  expectSameAsOracle(inputs, valueAndGradients(again, differentiated)));

test('recomputed holds one block of many instead of all', () => {
  const specs = specsOf({ x: { shape: [1000, 8] }, w: { shape: [8, 8] } });
  const peakOf = (step: (x: Tensor, w: Tensor) => Tensor): number => {
    const body: ProgramBody = ({ x, w }) => {
      const loss = (matrix: Tensor) => {
        let state = x!;
        for (let layer = 0; layer < 12; layer++) state = step(state, matrix);
        return tf.sum(state);
      };
      return { gradient: tf.grad(loss)(w!) };
    };
    return plannedBytes({ specs, body });
  };
  const all = peakOf((x, w) => block([x, w]));
  const one = peakOf((x, w) => recomputed([x, w], block));
  // Of each layer its input is kept, 32,000 bytes; of all but one not the four arrays in between.
  expect(all).toBeGreaterThanOrEqual(12 * 5 * 32_000);
  expect(one).toBeLessThan(12 * 32_000 + 12 * 32_000);
});
