import { describe, expect, test } from '@jest/globals';
import { causalAttention, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectFiniteDifferences,
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = {
  query: { shape: [2, 4, 3, 4] },
  key: { shape: [2, 2, 3, 4] },
  value: { shape: [2, 2, 3, 4] },
};
const differentiated = ['query', 'key', 'value'];

const mask = (): Tensor => tf.tensor2d([0, -1e9, -1e9, 0, 0, -1e9, 0, 0, 0], [3, 3]);
const operation: Operation = ({ query, key, value }) =>
  causalAttention({ query: query!, key: key!, value: value!, mask: mask() });
/** The same in blocks of two queries and of one. */
const divided: Operation = ({ query, key, value }) =>
  causalAttention({ query: query!, key: key!, value: value!, mask: mask() }, 2);
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

  test('has them in blocks of queries as well, which see no key behind them', () =>
    expectSameGradients(inputs, differentiated, [divided, composed]));

  test('has the gradients of finite differences', () =>
    expectFiniteDifferences(inputs, differentiated, operation));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));

  test('compiles in blocks to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(divided, differentiated)));

  // Nothing is masked and all scores are equal, so each value is the mean place of the keys its token's block sees.
  test.each([
    { tokens: 1023, means: [511, 511, 511] },
    { tokens: 1024, means: [127.5, 255.5, 511.5] },
    { tokens: 1025, means: [102, 204.5, 512] },
  ])('divides $tokens tokens as it should', async ({ tokens, means }) => {
    const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
    const places = Float32Array.from({ length: tokens }, (_, i) => i);
    const program = await engine.compile(
      [{ name: 'places', shape: [1, 1, tokens, 1], dtype: 'float32' }],
      ({ places: value }) => {
        const none = tf.mul(value!, 0);
        const zeros = tf.zeros([tokens, tokens]);
        return { out: causalAttention({ query: none, key: none, value: value!, mask: zeros }) };
      },
    );
    const { out } = await program.run({ places });
    await engine.close();
    const [first, middle, last] = [0, 300, tokens - 1].map((place) => out![place]!);
    expect(first).toBeCloseTo(means[0]!, 3);
    expect(middle).toBeCloseTo(means[1]!, 3);
    expect(last).toBeCloseTo(means[2]!, 3);
  });
});
