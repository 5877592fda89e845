import { expect, test } from '@jest/globals';
import { causalAttention, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { largest } from '#agent_rl/core/long-lists.ts';
import { float } from '#agent_rl/engine/engine.ts';
import { plannedBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';
import { seenByAllBehind } from '#model/decoder/decoder.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import type { RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  describeOperation,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = {
  query: { shape: [2, 4, 3, 4] },
  key: { shape: [2, 2, 3, 4] },
  value: { shape: [2, 2, 3, 4] },
};
const differentiated = ['query', 'key', 'value'];

/** The second row is a tree: its third token follows the first, not the second. */
const seenUpTo = (): Tensor => tf.tensor2d([2, 2, 2, 2, 1, 2], [2, 3], 'int32');
const [no, yes] = [-1e9, 0];
const mask = (): Tensor =>
  tf.tensor4d([yes, no, no, yes, yes, no, yes, yes, yes, yes, no, no, yes, yes, no, yes, no, yes], [2, 1, 3, 3]); // prettier-ignore
const operation: Operation = ({ query, key, value }) =>
  causalAttention({ query: query!, key: key!, value: value!, seenUpTo: seenUpTo() });
/** The same in blocks of two queries and of one. */
const divided: Operation = ({ query, key, value }) =>
  causalAttention({ query: query!, key: key!, value: value!, seenUpTo: seenUpTo() }, 2);
/** Keys and values repeated for every query head that shares them. */
const composed: Operation = ({ query, key, value }) => {
  const repeated = (x: Tensor): Tensor =>
    tf.reshape(tf.tile(tf.reshape(x, [2, 2, 1, 12]), [1, 1, 2, 1]), [2, 4, 3, 4]);
  const scores = tf.div(tf.matMul(query!, repeated(key!), false, true), 2);
  return tf.matMul(tf.softmax(tf.add(scores, mask())), repeated(value!));
};

const shapes = (tokens: number): RandomInputs => ({
  query: { shape: [1, 4, tokens, 8] },
  key: { shape: [1, 2, tokens, 8] },
  value: { shape: [1, 2, tokens, 8] },
});

/** Value and gradients of the sum of squares of causal attention. */
const gradientOf = (tokens: number, rows?: Parameters<typeof causalAttention>[1]) =>
  valueAndGradients(({ query, key, value }) => {
    const last = tf.tensor2d(seenByAllBehind(tokens), [1, tokens], 'int32');
    const given = { query: query!, key: key!, value: value!, seenUpTo: last };
    return tf.square(causalAttention(given, rows));
  }, differentiated);

describeOperation('causalAttention', { inputs, differentiated, operation, composed });
describeOperation('causalAttention in blocks of queries', {
  inputs,
  differentiated,
  operation: divided,
  composed,
});

test('causalAttention in blocks has the value and gradients of one block', async () => {
  const tokens = 1024;
  const long = shapes(tokens);
  const rng = new KeyedRng(5, 'long');
  const fed = Object.fromEntries(
    Object.entries(long).map(([name, { shape }]) => {
      const size = shape.reduce((a, b) => a * b);
      return [name, Float32Array.from({ length: size }, () => rng.uniform() - 0.5)];
    }),
  );
  const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  const specs = Object.entries(long).map(([name, { shape }]) => float(name, shape));
  const [byBlock, whole] = await Promise.all(
    [undefined, Infinity].map(async (most) => {
      const program = await engine.compile(specs, gradientOf(tokens, most));
      return program.run(fed);
    }),
  );
  await engine.close();
  // Else the one was not divided.
  expect(byBlock).not.toEqual(whole);
  for (const [name, values] of Object.entries(whole!)) {
    const gaps = Array.from(values, (x, i) => Math.abs(x - byBlock![name]![i]!));
    expect(largest(gaps)).toBeLessThan(1e-6);
    expect(values.some((x) => x !== 0)).toBe(true);
  }
});

const programOf = (tokens: number) => ({
  specs: Object.entries(shapes(tokens)).map(([name, { shape }]) => float(name, shape)),
  body: gradientOf(tokens),
});

test('causalAttention holds memory that grows with the tokens, from 2,048 on, and not with their square', () => {
  const sizes = [1008, 1024, 2048, 4096, 8192];
  const [undivided, from1024, ...longer] = sizes.map((tokens) => plannedBytes(programOf(tokens)));
  expect(undivided).toBeGreaterThan(1.5 * from1024!);
  // Of a block alone the keys grow, in eight lengths from 2,048 on: twice the tokens take at most twice the memory.
  for (const [i, more] of longer.slice(1).entries()) expect(more / longer[i]!).toBeLessThan(2.1);
});

test('causalAttention takes 4,096 tokens in 16 blocks, of 1,500 operations at most', () => {
  const { specs, body } = programOf(4096);
  const { nodes } = traceProgram(specs, body).graph;
  const softmaxes = nodes.filter(({ operator }) => operator === 'Softmax');
  // For the value, and forward and backward for the gradients.
  expect(softmaxes).toHaveLength(3 * 16);
  // Compiling takes time that grows with the square of the operations.
  expect(nodes.length).toBeLessThanOrEqual(1500);
});
