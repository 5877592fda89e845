import type { SizedBody } from '../engine.ts';
import { sizeOf } from '../check-inputs.ts';
import { bytesOfElement, type GraphNode, readBy } from '../trace/graph.ts';
import { traceProgram, type TracedProgram } from '../trace/trace-program.ts';
import { removeUnused } from './rewrite-graph.ts';
import { largest } from '../../core/long-lists.ts';

/** Operators whose output is their first input under another shape. */
const views = new Set(['Reshape', 'Squeeze', 'Unsqueeze', 'Identity', 'Flatten']);

/** Operators that ONNX Runtime lets write over an input that is not needed any more. */
const inPlace = new Set(
  'Abs Add Cast Clip Div Exp Log Mul Neg Reciprocal ScatterElements Sigmoid Softmax Sqrt Sub Where'.split(
    ' ',
  ),
);

/** Memory of results that follow one another in it, each under all its names. */
interface Buffer {
  size: number;
  /** The nodes that first write to it and last touch it. */
  from: number;
  to: number;
  /** How many nodes are still to read any name of its present result. */
  readers: number;
}

/**
 * Most bytes of intermediate results alive at once while a program runs, inputs and constants not counted.
 *
 * ONNX Runtime runs nodes in the order of a depth-first walk back from those that nothing follows, allocates an
 * output when its node starts and frees a value after its last reader, but for one: what a later output of the same size
 * will take over is kept until then, however long that is. The walk is done here on the graph as recorded: fusions, which
 * save a pass over some values, are not foreseen.
 */
export function peakBytes(program: TracedProgram): number {
  return peakOf(program.graph.nodes, {
    results: program.graph.results,
    outputs: program.outputNames,
  });
}

interface Results {
  results: TracedProgram['graph']['results'];
  outputs: readonly string[];
}

function peakOf(nodes: readonly GraphNode[], { results, outputs }: Results): number {
  const order = executionOrder(nodes);
  const buffers = buffersOf(order, { results, outputs });
  const change = new Float64Array(order.length + 1);
  for (const { size, from, to } of buffers) {
    change[from] = change[from]! + size;
    change[to + 1] = change[to + 1]! - size;
  }
  let [live, peak] = [0, 0];
  for (const [at, node] of order.entries()) {
    live += change[at]!;
    peak = Math.max(peak, live + scratchBytes(node, results));
  }
  return peak;
}

function buffersOf(order: readonly GraphNode[], { results, outputs: kept }: Results): Set<Buffer> {
  const readers = new Map(kept.map((name) => [name, Infinity]));
  for (const name of order.flatMap((node) => [...new Set(readBy(node))]))
    readers.set(name, (readers.get(name) ?? 0) + 1);
  // Inputs of the program are not among them: they are not freed and not written over.
  const buffers = new Map<string, Buffer>();
  /** Those that nothing reads any more, by their size, the latest last. */
  const idle = new Map<number, Buffer[]>();
  const sizes = new Map(
    [...results].map(([name, { shape, dtype }]) => [name, sizeOf(shape) * bytesOfElement[dtype]]),
  );
  for (const [at, node] of order.entries()) {
    const { operator, outputs } = node;
    const inputs = readBy(node);
    const touched = new Set(inputs.flatMap((name) => buffers.get(name) ?? []));
    for (const buffer of touched) buffer.to = at;
    for (const name of new Set(inputs)) {
      const buffer = buffers.get(name);
      if (buffer !== undefined) buffer.readers -= 1;
    }
    for (const [place, output] of outputs.entries()) {
      const size =
        sizes.get(output) ??
        largest(
          inputs.map((name) => sizes.get(name) ?? 0),
          0,
        );
      const ends = (name: string): boolean =>
        buffers.get(name)?.readers === 0 && sizes.get(name) === size;
      const view = views.has(operator) ? buffers.get(inputs[0]!) : undefined;
      const reused = inPlace.has(operator) ? buffers.get(inputs.find(ends) ?? '') : undefined;
      const given = place === 0 ? (view ?? reused) : undefined;
      const buffer = given ?? idle.get(size)?.pop() ?? { size, from: at, to: at, readers: 0 };
      if (view === undefined) sizes.set(output, size);
      buffer.to = at;
      buffer.readers += readers.get(output) ?? 0;
      buffers.set(output, buffer);
      touched.add(buffer);
    }
    for (const buffer of touched) {
      if (buffer.readers > 0) continue;
      if (!idle.has(buffer.size)) idle.set(buffer.size, []);
      idle.get(buffer.size)!.push(buffer);
    }
  }
  for (const buffer of buffers.values())
    if (buffer.readers === Infinity) buffer.to = order.length - 1;
  return new Set(buffers.values());
}

/** What a node allocates for itself while it runs: weights in four bits are widened whole, and a loop runs its rounds. */
function scratchBytes(node: GraphNode, results: Results['results']): number {
  const { operator, attributes, body } = node;
  if (body !== undefined)
    return peakOf(body.nodes, { results, outputs: body.outputs.map(({ name }) => name) });
  const { K: inner, N: outer } = attributes;
  return operator === 'MatMulNBits' ? 4 * Number(inner) * Number(outer) : 0;
}

/** Nodes as ONNX Runtime walks them: back from the last leaf, inputs of higher index first. */
function executionOrder(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const producer = new Map<string, number>();
  for (const [index, { outputs }] of nodes.entries())
    for (const name of outputs) producer.set(name, index);
  const before = nodes.map((node) =>
    [...new Set(readBy(node).flatMap((name) => producer.get(name) ?? []))].toSorted(
      (a, b) => a - b,
    ),
  );
  const followed = new Set(before.flat());
  const stack = [...nodes.keys()]
    .filter((index) => !followed.has(index))
    .map((index) => ({ index, leaving: false }));
  const seen = new Set<number>();
  const order: GraphNode[] = [];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { index, leaving } = top;
    if (leaving) order.push(nodes[index]!);
    if (leaving || seen.has(index)) continue;
    seen.add(index);
    stack.push({ index, leaving: true });
    for (const earlier of before[index]!)
      if (!seen.has(earlier)) stack.push({ index: earlier, leaving: false });
  }
  return order;
}

/** Most bytes of intermediate results of a program at some sizes, as `peakBytes`. */
export function plannedBytes({ specs, body }: SizedBody): number {
  const traced = traceProgram(specs, body);
  removeUnused(traced);
  return peakBytes(traced);
}
