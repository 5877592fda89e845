import { Remembered } from '../../core/collections/remembered.ts';
import type { Sizes, TensorSpec } from '../engine.ts';
import type { GraphDType, Initializer } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import type { ModelGraph, Port } from './encode-model.ts';
import { notEven, Recordings } from './recordings.ts';
import { dimOf, type Growth, valueAt } from './size-growth.ts';

/** A graph whose sizes are known only when it runs: what depends on them is among its inputs. */
export interface OpenGraph extends ModelGraph {
  results: readonly Port[];
  at: (sizes: Sizes) => GraphAtSizes;
}

export interface GraphAtSizes {
  /** Inputs that a caller gives. */
  inputs: readonly TensorSpec[];
  outputs: readonly TensorSpec[];
  /** The other inputs: shapes that operators take. */
  shapes: readonly (readonly [name: string, numbers: BigInt64Array])[];
}

/** Sizes that a program is recorded at: prime, so that other numbers of a shape are hardly equal to them or to their multiples. */
const samples = [10_007, 20_011, 30_011, 40_009, 50_021];
/** Added in a second attempt: numbers may be equal by chance at one size and not at another. */
const elsewhere = 20_034;

const sizesRemembered = 64;

/**
 * Opens the sizes of a program, which is recorded at a few of them: the same operations must come of all, and numbers of shapes that
 * grow evenly with each size, or with the product of two.
 *
 * @throws AgentRlError `NOT_TRACEABLE` where they do not
 */
export function openSizes(
  trace: (sizes: Sizes) => TracedProgram,
  names: readonly string[],
): OpenGraph {
  const openAt = (more: number): OpenGraph => {
    const first = Object.fromEntries(names.map((name, i) => [name, samples[i]! + more]));
    return openFrom(new Recordings(trace, names, first), names);
  };
  try {
    return openAt(0);
  } catch {
    return openAt(elsewhere);
  }
}

function openFrom(recorded: Recordings, names: readonly string[]): OpenGraph {
  const { graph, outputNames } = recorded.base;
  const inputs = grown(recorded, (traced) => traced.inputs);
  const outputs = grown(recorded, (traced) => traced.outputs);
  const given = graph.nodes
    .flatMap((node) => node.outputs)
    .filter((name) => graph.results.has(name));
  const results = grown(recorded, (traced) =>
    given.map((name) => {
      const { shape, dtype } = traced.graph.results.get(name)!;
      return { name, shape, dtype };
    }),
  );
  const open = openConstants(recorded);
  const atSizes = (sizes: Sizes): GraphAtSizes => ({
    inputs: inputs.at(sizes),
    outputs: outputs.at(sizes),
    shapes: [...open].map(([name, numbers]) => [
      name,
      BigInt64Array.from(numbers, (number) => BigInt(valueAt(number, sizes))),
    ]),
  });
  const known = new Remembered<GraphAtSizes>(sizesRemembered);
  return {
    nodes: graph.nodes,
    results: results.ports,
    initializers: graph.initializers.filter(({ name }) => !open.has(name)),
    inputs: [
      ...inputs.ports,
      ...[...open].map(([name, { length }]): Port => ({ name, shape: [length], dtype: 'int64' })),
    ],
    outputNames,
    outputs: outputs.ports,
    at: (sizes) => known.get(names.map((name) => sizes[name]).join(' '), () => atSizes(sizes)),
  };
}

interface Shaped<Kind> {
  name: string;
  shape: readonly number[];
  dtype: Kind;
}

/** Of the recordings, tensors whose shapes grow. */
function grown<Kind extends GraphDType>(
  recorded: Recordings,
  of: (traced: TracedProgram) => readonly Shaped<Kind>[],
) {
  const specs = of(recorded.base);
  const all = new Map([recorded.base, ...recorded.others].map((traced) => [traced, of(traced)]));
  const shapes = specs.map(({ shape }, i) =>
    shape.map((_, axis) => recorded.growthOf((traced) => all.get(traced)![i]!.shape[axis]!)),
  );
  return {
    ports: specs.map(({ name, dtype }, i): Port => ({ name, dtype, shape: shapes[i]!.map(dimOf) })),
    at: (sizes: Sizes): Shaped<Kind>[] =>
      specs.map(({ name, dtype }, i) => {
        const shape = shapes[i]!.map((size) => valueAt(size, sizes));
        return { name, shape, dtype };
      }),
  };
}

/** Constants that are not the same at all sizes: how their numbers grow, by name. */
function openConstants(recorded: Recordings): Map<string, readonly Growth[]> {
  const { base, others } = recorded;
  const open = new Map<string, readonly Growth[]>();
  for (const [index, { name, bytes }] of base.graph.initializers.entries()) {
    const at = ({ graph }: TracedProgram): Initializer => graph.initializers[index]!;
    if (others.every((other) => sameBytes(at(other).bytes, bytes))) continue;
    const numbers = (traced: TracedProgram): readonly number[] => numbersOf(at(traced));
    const count = numbers(base).length;
    if (others.some((other) => numbers(other).length !== count))
      throw recorded.notEven(`The length of a constant, ${count}`);
    open.set(
      name,
      Array.from({ length: count }, (_, i) => recorded.growthOf((traced) => numbers(traced)[i]!)),
    );
  }
  return open;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Of a constant that may become an input: only shapes may. */
function numbersOf({ dtype, bytes }: Initializer): number[] {
  if (dtype !== 'int64') throw notEven(`A constant of ${dtype}`);
  const { buffer, byteOffset, byteLength } = bytes;
  return Array.from(new BigInt64Array(buffer, byteOffset, byteLength / 8), Number);
}
