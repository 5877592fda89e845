import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { OnnxEngine } from '../../../agent_rl/engine/onnx-engine.ts';
import { tf } from '../../../agent_rl/engine/ops.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { sizeOf } from '../../../agent_rl/engine/check-inputs.ts';
import type { BatchSize } from '../bench-model.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import { median, timed } from '../statistics.ts';

/** One matrix product as the training step computes it. */
export interface Product {
  name: string;
  /** As stored; leading axes are batches. */
  a: number[];
  b: number[];
  transposed?: 'a' | 'b';
  /** How often a step computes it. */
  count: number;
}

export interface ProductRate extends Product {
  /** With the product copied to JavaScript. */
  fetchedGflops: number;
  /** By the runtime's own clock around the kernel. */
  kernelGflops: number;
}

/** The distinct products of a step: of each projection, forward, gradient of its input and of its weights; and attention's. */
export function stepProducts(config: ModelConfig, { sequences, length }: BatchSize): Product[] {
  const { hiddenSize: width, headDim, intermediateSize, vocabSize, heads, kvHeads } = config;
  const rows = sequences * length;
  const linear = (name: string, from: number, to: number, count: number): Product[] => [
    { name: `${name} forward`, a: [rows, from], b: [to, from], transposed: 'b', count },
    { name: `${name} input gradient`, a: [rows, to], b: [to, from], count },
    { name: `${name} weight gradient`, a: [rows, to], b: [rows, from], transposed: 'a', count },
  ];
  const count = 2 * config.layers;
  const grouped = [sequences, kvHeads, (heads / kvHeads) * length];
  const [queries, scores] = [grouped.concat(headDim), grouped.concat(length)];
  const keys = [sequences, kvHeads, length, headDim];
  return [
    ...linear('queries and output', width, heads * headDim, count),
    ...linear('keys, values', width, kvHeads * headDim, count),
    ...linear('gate, up', width, intermediateSize, count),
    ...linear('down', intermediateSize, width, config.layers),
    ...linear('head', width, vocabSize, 1),
    // Each shape once forward and once backward: scores and their gradient, the mix and the queries' gradient, and
    // the gradients of keys and of values.
    { name: 'attention scores', a: queries, b: keys, transposed: 'b', count },
    { name: 'attention mix', a: scores, b: keys, count },
    { name: 'attention key gradient', a: scores, b: queries, transposed: 'a', count },
  ];
}

const flopsOf = ({ a, b, transposed }: Product): number =>
  2 * sizeOf(a) * b.at(transposed === 'b' ? -2 : -1)!;

/** Seconds a step would take if it were its matrix products and nothing else, each at its own kernel's rate. */
export const productSeconds = (rates: readonly ProductRate[]): number =>
  rates.reduce((sum, rate) => sum + (rate.count * flopsOf(rate)) / rate.kernelGflops / 1e9, 0);

/** Rates of every product as a program of its own, compiled as the step is. */
export const measureProducts = (
  products: readonly Product[],
  { threads, repeats }: { threads: number; repeats: number },
): Promise<ProductRate[]> =>
  inTemporaryFolder('agent-rl-bench', async (folder) => {
    const rates: ProductRate[] = [];
    for (const [index, one] of products.entries()) {
      const prefix = `product-${index}-`;
      const seconds = await runProduct(one, { threads, repeats });
      await runProduct(one, { threads, repeats, profilePrefix: path.join(folder, prefix) });
      const kernelS = await kernelSeconds(folder, prefix);
      const gflop = flopsOf(one) / 1e9;
      rates.push({
        ...one,
        fetchedGflops: gflop / median(seconds),
        kernelGflops: gflop / median(kernelS.slice(-repeats)),
      });
    }
    return rates;
  });

async function runProduct(
  { name, a, b, transposed }: Product,
  { threads, repeats, ...profile }: { threads: number; repeats: number; profilePrefix?: string },
): Promise<number[]> {
  const engine = new OnnxEngine({ device: 'cpu', threads, ...profile });
  const program = await engine.compile(
    [
      { name: 'a', shape: a, dtype: 'float32' },
      { name: 'b', shape: b, dtype: 'float32' },
    ],
    (inputs) => ({
      y: tf.matMul(inputs['a']!, inputs['b']!, transposed === 'a', transposed === 'b'),
    }),
  );
  const random = new KeyedRng(3, 'product', name);
  const values = (shape: readonly number[]): Float32Array =>
    new Float32Array(sizeOf(shape)).map((_, i) => (i % 17) / 17 - random.at(i % 64));
  const feeds = { a: values(a), b: values(b) };
  const seconds = await timed(() => program.run(feeds), { repeats, warmUp: 3 });
  await engine.close();
  return seconds;
}

interface ProfileEvent {
  cat: string;
  name: string;
  /** Microseconds. */
  dur: number;
  args?: { op_name?: string };
}

async function kernelSeconds(folder: string, prefix: string): Promise<number[]> {
  const files = await readdir(folder);
  const file = files.find((name) => name.startsWith(prefix));
  if (file === undefined) throw new Error(`ONNX Runtime wrote no profile ${prefix} in ${folder}.`);
  const events = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as ProfileEvent[];
  return events
    .filter(
      ({ cat, name, args }) =>
        cat === 'Node' &&
        name.endsWith('_kernel_time') &&
        /MatMul$|^Gemm$/.test(args?.op_name ?? ''),
    )
    .map(({ dur }) => dur / 1e6);
}
