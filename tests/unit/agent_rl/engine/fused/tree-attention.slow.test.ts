import { afterAll, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { largest } from '#agent_rl/core/long-lists.ts';
import { float, type SizedBody, type TensorSpec } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { plannedBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { tf, type Tensor, tokensOfBlock, treeAttention } from '#agent_rl/engine/ops.ts';
import { treeLayout } from '#agent_rl/learner/tree-layout.ts';
import { valueAndGradients } from '#tests/support/gradient-checks.ts';

const [heads, kvHeads, width] = [4, 2, 8];
const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
afterAll(() => engine.close());

/** Parents of random trees, walked depth first; `branch` is how often a token follows another than the one before it. */
function randomTrees(rng: KeyedRng, tokens: number, branch: number): Int32Array {
  const path: number[] = [];
  const parents = Int32Array.from({ length: tokens }, (_, token) => {
    if (rng.uniform() < branch) path.length = rng.integer(path.length + 1);
    const parent = path.at(-1) ?? -1;
    path.push(token);
    return parent;
  });
  return parents;
}

const inputSpecs = (tokens: number): TensorSpec[] => [
  float('query', [1, heads, tokens, width]),
  float('key', [1, kvHeads, tokens, width]),
  float('value', [1, kvHeads, tokens, width]),
];
const int32 = (name: string, shape: number[]): TensorSpec => ({ name, shape, dtype: 'int32' });

function inBlocks(blocks: number, keys: number): SizedBody {
  const tokens = blocks * tokensOfBlock;
  const specs = [
    ...inputSpecs(tokens),
    int32('places', [1, tokens]),
    int32('seenUpTo', [1, tokens]),
    int32('keys', [blocks, keys]),
    ...['keyCounts', 'stillOpen', 'lastFirst'].map((name) => int32(name, [blocks])),
  ];
  const body = valueAndGradients(
    (inputs) => treeAttention(inputs as unknown as Parameters<typeof treeAttention>[0]),
    ['query', 'key', 'value'],
  );
  return { specs, body };
}

/** Each token compared with all, of which a mask hides those that it does not follow. */
const composed = (tokens: number): SizedBody => ({
  specs: [...inputSpecs(tokens), float('mask', [tokens, tokens])],
  body: valueAndGradients(
    ({ query, key, value, mask }) => {
      const [keys, values] = [key!, value!].map((x) =>
        tf.reshape(
          tf.tile(tf.reshape(x, [kvHeads, 1, tokens, width]), [1, heads / kvHeads, 1, 1]),
          [1, heads, tokens, width],
        ),
      ) as [Tensor, Tensor];
      const scores = tf.div(tf.matMul(query!, keys, false, true), Math.sqrt(width));
      return tf.matMul(tf.softmax(tf.add(scores, mask!)), values);
    },
    ['query', 'key', 'value'],
  ),
});

function maskOf(parents: Int32Array): Float32Array {
  const mask = new Float32Array(parents.length ** 2).fill(-1e9);
  for (const token of parents.keys())
    for (let at = token; at >= 0; at = parents[at]!) mask[token * parents.length + at] = 0;
  return mask;
}

function placesOf(parents: Int32Array): Int32Array {
  const places = new Int32Array(parents.length);
  for (const [token, parent] of parents.entries())
    places[token] = parent < 0 ? 0 : places[parent]! + 1;
  return places;
}

test('treeAttention has the value and gradients of comparing all with all, on random trees by one program', async () => {
  const program = await engine.compileSized(
    ({ blocks, keys }) => inBlocks(blocks, keys),
    ['blocks', 'keys'],
    { manyRows: true },
  );
  const rng = new KeyedRng(3, 'trees');
  for (const branch of [0, 0.004, 0.05, 0.5, 1])
    for (const blocks of [1, 2, 5]) {
      const tokens = blocks * tokensOfBlock;
      const parents = randomTrees(rng, tokens, branch);
      const { layout, most: keys } = treeLayout(parents, tokens);
      const given = Object.fromEntries(
        inputSpecs(tokens).map(({ name, shape }) => [
          name,
          Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => rng.uniform() - 0.5),
        ]),
      );
      const { specs, body } = composed(tokens);
      const whole = await engine.compile(specs, body);
      const expected = await whole.run({ ...given, mask: maskOf(parents) });
      const own = await program.run(
        { ...given, ...layout, places: placesOf(parents) },
        { sizes: { blocks, keys } },
      );
      for (const [name, values] of Object.entries(expected)) {
        const gaps = Array.from(values, (x, i) => Math.abs(x - own[name]![i]!));
        const scale = largest(Array.from(values, Math.abs));
        expect({ branch, blocks, name, far: largest(gaps) > 1e-5 * scale }).toMatchObject({
          far: false,
        });
      }
      await whole.dispose();
    }
});

test('treeAttention holds memory that grows with the tokens, as long as a sequence is', () => {
  const bytes = [32, 64, 128].map((blocks) => plannedBytes(inBlocks(blocks, 2048)));
  for (const [i, more] of bytes.slice(1).entries()) expect(more / bytes[i]!).toBeLessThan(2.1);
  // The scores of a block and as many keys more, by heads.
  const more = 4 * heads * tokensOfBlock * (2048 - 256);
  expect(bytes[0]).toBeGreaterThan(plannedBytes(inBlocks(32, 256)) + more);
});

test('a layout lists what each block is compared with, and how much of it stays open behind it', () => {
  // Two tokens, from which two branches go, the first of them longer than a block.
  const parents = Int32Array.from({ length: 300 }, (_, token) => (token === 200 ? 1 : token - 1));
  const { layout, most } = treeLayout(parents, 384);
  expect(most).toBe(256);
  expect([...layout.keyCounts]).toEqual([128, 256, 58 + 128]);
  expect([...layout.keys.subarray(2 * 256, 2 * 256 + 4)]).toEqual([0, 1, 200, 201]);
  // Of the first block the second one sees all, the third one two tokens.
  expect([...layout.stillOpen]).toEqual([0, 2, 0]);
  expect([...layout.lastFirst]).toEqual([2, 1, 0]);
  expect([0, 1, 2, 199, 200, 299, 300, 383].map((token) => layout.seenUpTo[token])).toEqual([
    299, 299, 199, 199, 299, 299, 300, 383,
  ]);
});
