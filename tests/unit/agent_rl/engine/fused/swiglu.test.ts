import { describe, test } from '@jest/globals';
import { swiglu, tf } from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = { gate: { shape: [4, 6] }, up: { shape: [4, 6] } };
const differentiated = ['gate', 'up'];

const operation: Operation = ({ gate, up }) => swiglu(gate!, up!);
const composed: Operation = ({ gate, up }) => tf.mul(tf.mul(gate!, tf.sigmoid(gate!)), up!);

describe('swiglu', () => {
  test('has the value and the gradients of its composition', () =>
    expectSameGradients(inputs, differentiated, [operation, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));
});
