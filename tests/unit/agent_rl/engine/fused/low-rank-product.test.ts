import { describe, test } from '@jest/globals';
import { lowRankProduct, tf } from '#agent_rl/engine/ops.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = {
  x: { shape: [4, 6] },
  a: { shape: [2, 6] },
  b: { shape: [5, 2] },
  factors: { shape: [4, 6] },
};
const differentiated = ['x', 'a', 'b'];

describe.each(['without factors', 'with factors'])('lowRankProduct %s', (name) => {
  const dropped = name === 'with factors';
  const operation: Operation = ({ x, a, b, factors }) =>
    lowRankProduct(x!, a!, b!, { scale: 1.5, factors: dropped ? factors! : undefined });
  const composed: Operation = ({ x, a, b, factors }) => {
    const seen = dropped ? tf.mul(x!, factors!) : x!;
    return tf.mul(tf.matMul(tf.matMul(seen, a!, false, true), b!, false, true), 1.5);
  };

  test('has the value and the gradients of its composition', () =>
    expectSameGradients(inputs, differentiated, [operation, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));
});
