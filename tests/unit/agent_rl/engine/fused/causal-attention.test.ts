import { describe, test } from '@jest/globals';
import { causalAttention, tf, type Tensor } from '../../../../../agent_rl/engine/ops.ts';
import { expectSameAsOracle, type RandomInputs } from '../../../../support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '../../../../support/gradient-checks.ts';

const inputs: RandomInputs = {
  query: { shape: [2, 4, 3, 4] },
  key: { shape: [2, 2, 3, 4] },
  value: { shape: [2, 2, 3, 4] },
};
const differentiated = ['query', 'key', 'value'];

const mask = (): Tensor => tf.tensor2d([0, -1e9, -1e9, 0, 0, -1e9, 0, 0, 0], [3, 3]);
const operation: Operation = ({ query, key, value }) =>
  causalAttention({ query: query!, key: key!, value: value!, mask: mask() });
/** Keys and values repeated for every query head that shares them. */
const composed: Operation = ({ query, key, value }) => {
  const repeated = (x: Tensor): Tensor =>
    tf.reshape(tf.tile(tf.reshape(x, [2, 2, 1, 12]), [1, 1, 2, 1]), [2, 4, 3, 4]);
  const scores = tf.div(tf.matMul(query!, repeated(key!), false, true), 2);
  return tf.matMul(tf.softmax(tf.add(scores, mask())), repeated(value!));
};

describe('causalAttention', () => {
  test('has the value and the gradients of its composition', () =>
    expectSameGradients(inputs, differentiated, [operation, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));
});
