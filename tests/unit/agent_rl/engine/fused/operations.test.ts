import { test } from '@jest/globals';

import {
  lowRankProduct,
  rmsNorm,
  ropeRotate,
  swiglu,
  tf,
  type Tensor,
} from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle } from '#tests/support/engine-oracle.ts';
import { describeOperation, type Operation } from '#tests/support/gradient-checks.ts';

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
