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
let [H, KV, D] = [4, 2, 8];
const bodyOf = (n: number, K: number, trees: boolean): SizedBody => ({
  specs: [
    float('query', [1, H, n, D]), float('key', [1, KV, n, D]), float('value', [1, KV, n, D]), float('out', [1, H, n, D]),
    { name: 'seenUpTo', shape: [1, n], dtype: 'int32' } as const,
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

const seq = (n: number, count: number): SizedBody => ({
  specs: [float('query', [count, H, n, D]), float('key', [count, KV, n, D]), float('value', [count, KV, n, D]), float('out', [count, H, n, D]), { name: 'seenUpTo', shape: [1, n], dtype: 'int32' }],
  body: (x) => {
    let value!: Tensor;
    const f = (query: Tensor, key: Tensor, v: Tensor) => {
      const o = causalAttention({ query, key, value: v, seenUpTo: x['seenUpTo']! });
      value = tf.keep(o);
      return tf.sum(tf.mul(o, x['out']!)) as never;
    };
    const [dq, dk, dv] = tf.grads(f as never)([x['query']!, x['key']!, x['value']!]);
    return { value, dq: dq!, dk: dk!, dv: dv! };
  },
});
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; };
const group = (prompt: number, turn: number, count: number) => {
  const parents = Array.from({ length: prompt }, (_, i) => i - 1);
  for (let c = 0; c < count; c++) for (let t = 0; t < turn; t++) parents.push(t === 0 ? prompt - 1 : parents.length - 1);
  while (parents.length % tokensOfBlock) parents.push(-1);
  return parents;
};
test('bench', async () => {
  const onnx = new OnnxEngine({ device: 'cpu', threads: 2 } as never);
  for (const [h, kv, d, prompt, turn, count] of [[16, 8, 128, 1000, 1000, 2], [9, 3, 64, 300, 100, 8], [9, 3, 64, 1000, 200, 16], [4, 2, 32, 200, 80, 8]] as const) {
    [H, KV, D] = [h, kv, d];
    const program = await onnx.compileSized((s) => bodyOf(s['blocks']! * tokensOfBlock, s['K']!, true), ['blocks', 'K'], { manyRows: true });
    const parents = group(prompt, turn, count);
    const n = parents.length;
    const l = layout(parents);
    const noise = (size: number) => new Float32Array(size).map((_, i) => Math.sin(i));
    const inputs = { query: noise(H * n * D), key: noise(KV * n * D), value: noise(KV * n * D), out: noise(H * n * D), seenUpTo: l.last, ...l.more };
    const len = prompt + turn;
    const s = seq(len, count);
    const other = await onnx.compile(s.specs, s.body);
    const m = count * len;
    const oi = { query: noise(H * m * D), key: noise(KV * m * D), value: noise(KV * m * D), out: noise(H * m * D), seenUpTo: new Int32Array(len).fill(len - 1) };
    const whole = n <= 2048 ? bodyOf(n, l.K, false) : undefined;
    const all = whole && await onnx.compile(whole.specs, whole.body);
    for (let round = 0; round < 2; round++) {
      let t = cpu(); await program.run(inputs, { sizes: { blocks: l.blocks, K: l.K } }); const own = cpu() - t;
      t = cpu(); await other.run(oi); const its = cpu() - t;
      t = cpu(); await all?.run(inputs as never).catch(() => 0); const wh = cpu() - t;
      process.stderr.write('\n'+JSON.stringify({ h, d, prompt, turn, count, n, tree: own.toFixed(3), sequences: its.toFixed(3), whole: wh.toFixed(3) }));
    }
  }
  await onnx.close();
}, 600000);
