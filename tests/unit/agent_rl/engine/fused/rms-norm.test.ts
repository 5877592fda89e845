import { describe, test } from '@jest/globals';
import { rmsNorm, tf } from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = { x: { shape: [2, 3, 8] }, weight: { shape: [8] } };
const differentiated = ['x', 'weight'];

const operation: Operation = ({ x, weight }) => rmsNorm(x!, weight!, 1e-5);
const composed: Operation = ({ x, weight }) =>
  tf.mul(tf.div(x!, tf.sqrt(tf.add(tf.mean(tf.square(x!), -1, true), 1e-5))), weight!);

describe('rmsNorm', () => {
  test('has the value and the gradients of its composition', () =>
    expectSameGradients(inputs, differentiated, [operation, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));
});
