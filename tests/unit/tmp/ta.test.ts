import { test, expect } from '@jest/globals';
import { causalAttention, tf, treeAttention, tokensOfBlock, type Tensor } from '#agent_rl/engine/ops.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { float, type SizedBody } from '#agent_rl/engine/engine.ts';

/** parents of a random forest walked depth first */
function forest(rng: KeyedRng, n: number, branch: number): number[] {
  const parents: number[] = [];
  const stack: number[] = [];
  for (let i = 0; i < n; i++) {
    if (i === 0) parents.push(-1);
    else if (rng.uniform() < branch) {
      // back to a random ancestor, or a new root
      const depth = Math.floor(rng.uniform() * (stack.length + 1));
      stack.length = depth;
      parents.push(stack.at(-1) ?? -1);
    } else parents.push(i - 1);
    while (stack.length && stack.at(-1) !== parents[i]) stack.pop();
    stack.push(i);
  }
  return parents;
}
import { treeLayout } from '#agent_rl/learner/tree-layout.ts';
export function layout(parents: number[]) {
  const { layout: l, most } = treeLayout(Int32Array.from(parents), parents.length);
  const places = new Int32Array(parents.length);
  parents.forEach((p, i) => (places[i] = p < 0 ? 0 : places[p]! + 1));
  return { last: l.seenUpTo, more: { keys: l.keys, keyCounts: l.keyCounts, stillOpen: l.stillOpen, lastFirst: l.lastFirst, places }, K: most, blocks: parents.length / tokensOfBlock };
}
const [H, KV, D] = [4, 2, 8];
const bodyOf = (n: number, K: number, trees: boolean): SizedBody => ({
  specs: [
    float('query', [1, H, n, D]), float('key', [1, KV, n, D]), float('value', [1, KV, n, D]), float('out', [1, H, n, D]),
    { name: 'seenUpTo', shape: [1, n], dtype: 'int32' },
    ...(trees ? [
    { name: 'keys', shape: [n / tokensOfBlock, K], dtype: 'int32' } as const,
    { name: 'keyCounts', shape: [n / tokensOfBlock], dtype: 'int32' } as const,
    { name: 'lastFirst', shape: [n / tokensOfBlock], dtype: 'int32' } as const,
{ name: 'stillOpen', shape: [n / tokensOfBlock], dtype: 'int32' } as const,
    { name: 'places', shape: [1, n], dtype: 'int32' } as const] : []),
  ],
  body: (x) => {
    let value!: Tensor;
    const f = (query: Tensor, key: Tensor, v: Tensor) => {
      const o = trees
        ? treeAttention({ query, key, value: v, seenUpTo: x['seenUpTo']!, keys: x['keys']!, keyCounts: x['keyCounts']!, stillOpen: x['stillOpen']!, lastFirst: x['lastFirst']!, places: x['places']! })
        : causalAttention({ query, key, value: v, seenUpTo: x['seenUpTo']! }, Infinity);
      value = tf.keep(o);
      return tf.sum(tf.mul(o, x['out']!)) as never;
    };
    const [dq, dk, dv] = tf.grads(f as never)([x['query']!, x['key']!, x['value']!]);
    return { value, dq: dq!, dk: dk!, dv: dv! };
  },
});
test('same', async () => {
  const onnx = new OnnxEngine({ device: 'cpu', threads: 1 } as never);
  const rng = new KeyedRng(3);
  const program = await onnx.compileSized((s) => bodyOf(s['blocks']! * tokensOfBlock, s['K']!, true), ['blocks', 'K'], { manyRows: true });
  for (const n of [128, 384, 512]) {
    const parents = forest(rng, n, 0.05);
    const l = layout(parents);
    const noise = (size: number) => Float32Array.from({ length: size }, () => rng.uniform() * 2 - 1);
    const inputs = { query: noise(H * n * D), key: noise(KV * n * D), value: noise(KV * n * D), out: noise(H * n * D), seenUpTo: l.last };
    const { more } = l;
    const b = bodyOf(n, l.K, false);
    const ref = await (await onnx.compile(b.specs, b.body)).run(inputs);
    const own = await program.run({ ...inputs, ...more }, { sizes: { blocks: l.blocks, K: l.K } });
    const e = bodyOf(n, l.K, true);
    const eager = await (await (await EagerEngine.open('cpu')).compile(e.specs, e.body)).run({ ...inputs, ...more });
    for (const name of ['value', 'dq', 'dk', 'dv']) {
      const diff = (a: ArrayLike<number>, c: ArrayLike<number>) => Math.max(...Array.from(a, (x, i) => Math.abs(x - c[i]!)));
      console.log(n, l.K, name, diff(ref[name]!, own[name]!), diff(ref[name]!, eager[name]!));
    }
  }
  await onnx.close();
});
