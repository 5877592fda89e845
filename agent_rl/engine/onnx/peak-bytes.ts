import type { GraphNode } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';

/** Operators whose output is their first input under another shape. */
const views = new Set(['Reshape', 'Squeeze', 'Unsqueeze', 'Identity', 'Flatten']);

/** Operators that ONNX Runtime lets write over an input that is not needed any more. */
const inPlace = new Set([
  'Abs',
  'Add',
  'Cast',
  'Clip',
  'Div',
  'Exp',
  'Log',
  'Mul',
  'Neg',
  'Reciprocal',
  'ScatterElements',
  'Sigmoid',
  'Softmax',
  'Sqrt',
  'Sub',
  'Where',
]);

/**
 * Most bytes of intermediate results alive at once while a program runs, inputs and constants not counted.
 *
 * ONNX Runtime runs nodes in the order of a depth-first walk back from those that nothing follows, allocates an
 * output when its node starts and frees a value after its last reader. The walk is done here on the graph as
 * recorded: fusions, which save a pass over some values, are not foreseen.
 */
export function peakBytes({ graph, outputNames }: TracedProgram): number {
  const { nodes, bytes } = graph;
  const order = executionOrder(nodes);
  const buffers = new Buffers(nodes, order, new Set(outputNames));
  for (const index of order) {
    const node = nodes[index]!;
    const [first] = node.inputs;
    for (const [place, output] of node.outputs.entries()) {
      if (place === 0 && first !== undefined && views.has(node.operator)) {
        if (buffers.share(first, output)) continue;
      }
      const size =
        bytes.get(output) ?? Math.max(0, ...node.inputs.map((name) => bytes.get(name) ?? 0));
      bytes.set(output, size);
      const reused = inPlace.has(node.operator)
        ? node.inputs.find((name) => buffers.endsWith(name, index) && bytes.get(name) === size)
        : undefined;
      if (place === 0 && reused !== undefined) buffers.share(reused, output);
      else buffers.allocate(output, size);
    }
    buffers.during(scratchBytes(node));
    buffers.release(index);
  }
  return buffers.peak;
}

/** What a node allocates for itself while it runs: weights in four bits are widened whole. */
function scratchBytes({ operator, attributes: { K: inner, N: outer } }: GraphNode): number {
  if (operator !== 'MatMulNBits' || inner === undefined || outer === undefined) return 0;
  return 'int' in inner && 'int' in outer ? 4 * inner.int * outer.int : 0;
}

/** The order in which ONNX Runtime walks: back from the last leaf, inputs of higher index first. */
function executionOrder(nodes: readonly GraphNode[]): readonly number[] {
  const producer = new Map<string, number>();
  for (const [index, { outputs }] of nodes.entries())
    for (const name of outputs) producer.set(name, index);
  const before = nodes.map(({ inputs }) =>
    [...new Set(inputs.flatMap((name) => producer.get(name) ?? []))].toSorted((a, b) => a - b),
  );
  const followed = new Set(before.flat());
  const stack = [...nodes.keys()]
    .filter((index) => !followed.has(index))
    .map((index) => ({ index, leaving: false }));
  const seen = new Set<number>();
  const order: number[] = [];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { index, leaving } = top;
    if (leaving) order.push(index);
    if (leaving || seen.has(index)) continue;
    seen.add(index);
    stack.push({ index, leaving: true });
    for (const earlier of before[index]!)
      if (!seen.has(earlier)) stack.push({ index: earlier, leaving: false });
  }
  return order;
}

/** Memory of one result, under all its names. */
interface Buffer {
  size: number;
  /** Step after which none of its names is read. */
  last: number;
}

/** What is allocated, and until when. */
class Buffers {
  peak = 0;
  #live = 0;
  readonly #step = new Map<number, number>();
  /** Step after which a name is not read any more. */
  readonly #lastRead = new Map<string, number>();
  readonly #buffers = new Map<string, Buffer>();
  /** Buffers that may end with a step. */
  readonly #ending = new Map<number, Buffer[]>();

  constructor(nodes: readonly GraphNode[], order: readonly number[], outputs: ReadonlySet<string>) {
    for (const [step, index] of order.entries()) {
      this.#step.set(index, step);
      for (const name of nodes[index]!.inputs) this.#lastRead.set(name, step);
      // What nothing reads is gone at once.
      for (const name of nodes[index]!.outputs)
        if (!this.#lastRead.has(name)) this.#lastRead.set(name, step);
    }
    for (const name of outputs) this.#lastRead.set(name, Infinity);
  }

  allocate(name: string, size: number): void {
    const buffer: Buffer = { size, last: -1 };
    this.#name(buffer, name);
    this.#live += size;
    this.peak = Math.max(this.peak, this.#live);
  }

  /** Held besides, for the length of a node. */
  during(size: number): void {
    this.peak = Math.max(this.peak, this.#live + size);
  }

  /** Gives a buffer another name; not for inputs of the program, which are not our buffers. */
  share(of: string, name: string): boolean {
    const buffer = this.#buffers.get(of);
    if (buffer !== undefined) this.#name(buffer, name);
    return buffer !== undefined;
  }

  /** Whether a buffer has no reader after a node. */
  endsWith(name: string, index: number): boolean {
    const buffer = this.#buffers.get(name);
    return buffer !== undefined && buffer.last <= this.#step.get(index)!;
  }

  release(index: number): void {
    const step = this.#step.get(index)!;
    for (const buffer of this.#ending.get(step) ?? [])
      if (buffer.last === step) this.#live -= buffer.size;
    this.#ending.delete(step);
  }

  #name(buffer: Buffer, name: string): void {
    this.#buffers.set(name, buffer);
    const last = this.#lastRead.get(name) ?? Infinity;
    if (last <= buffer.last) return;
    buffer.last = last;
    const ending = this.#ending.get(last);
    if (ending === undefined) this.#ending.set(last, [buffer]);
    else ending.push(buffer);
  }
}
