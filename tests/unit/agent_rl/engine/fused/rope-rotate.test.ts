import { describe, test } from '@jest/globals';
import { ropeRotate, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = { x: { shape: [2, 3, 5, 4] }, angles: { shape: [5, 2] } };
const differentiated = ['x'];

const tables = (angles: Tensor): Tensor => tf.concat([angles, angles], 1);
const operation: Operation = ({ x, angles }) =>
  ropeRotate(x!, tables(tf.cos(angles!)), tables(tf.sin(angles!)));
/** The two-dimensional rotation of each pair (x[i], x[i + width / 2]). */
const composed: Operation = ({ x, angles }) => {
  const [a, b] = tf.split(x!, 2, -1) as [Tensor, Tensor];
  const [cos, sin] = [tf.cos(angles!), tf.sin(angles!)];
  return tf.concat(
    [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(b, cos), tf.mul(a, sin))],
    -1,
  );
};

describe('ropeRotate', () => {
  test('has the value and the gradients of its composition', () =>
    expectSameGradients(inputs, differentiated, [operation, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));

  test('turns rows that stand where tokens would, one head each', () =>
    expectSameAsOracle({ x: { shape: [6, 4, 8] }, angles: { shape: [4, 4] } }, (tensors) => ({
      y: operation(tensors),
    })));
});
