import { Remembered } from '../../core/collections/remembered.ts';
import type { Sizes, TensorSpec } from '../engine.ts';
import { sameData } from '../same-data.ts';
import type { GraphDType, Initializer } from '../trace/graph.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import type { ModelGraph, Port } from './encode-model.ts';
import { notTheSame, type Recording, Recordings } from './recordings.ts';
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
  shapes: readonly { name: string; shape: readonly number[]; data: BigInt64Array }[];
}

/** Sizes that a program is recorded at: prime, so that other numbers of a shape are hardly equal to them or to their multiples. */
const samples = [10_007, 20_011, 30_011, 40_009, 50_021];
/** Added in a second attempt: numbers may be equal by chance at one size and not at another. */
const elsewhere = 20_034;

const sizesRemembered = 64;

export interface OpenOptions {
  names: readonly string[];
  /** Whether the shapes of results are wanted. */
  results: boolean;
}

/**
 * Opens the sizes of a program, which is recorded at a few of them: the same operations must come of all, and numbers of shapes that
 * grow evenly with each size, or with the product of two.
 *
 * @throws AgentRlError `NOT_TRACEABLE` where they do not
 */
export function openSizes(trace: (sizes: Sizes) => TracedProgram, options: OpenOptions): OpenGraph {
  const openAt = (more: number): OpenGraph => {
    const { names } = options;
    const first = Object.fromEntries(names.map((name, i) => [name, samples[i]! + more]));
    return openFrom(new Recordings(trace, names, first), options);
  };
  try {
    return openAt(0);
  } catch (thrown) {
    if (!AgentRlError.is(thrown) || thrown.code !== 'NOT_TRACEABLE') throw thrown;
    return openAt(elsewhere);
  }
}

function openFrom(recorded: Recordings, { names, results }: OpenOptions): OpenGraph {
  const { graph, outputNames } = recorded.base;
  const inputs = grown(recorded, (recording) => recording.inputs);
  const outputs = grown(recorded, (recording) => recording.outputs);
  const open = openConstants(recorded);
  const opened = new Set(open.map(({ name }) => name));
  return {
    nodes: graph.nodes,
    results: results ? grownResults(recorded).map(portOf) : [],
    initializers: graph.initializers.filter(({ name }) => !opened.has(name)),
    inputs: [
      ...inputs.map(portOf),
      ...open.map(({ name, shape }): Port => ({ name, shape, dtype: 'int64' })),
    ],
    outputNames,
    outputs: outputs.map(portOf),
    at: rememberedSizes(names, { inputs, outputs, open }),
  };
}

/** A function of its own, so that it holds none of the recordings. */
function rememberedSizes(
  names: readonly string[],
  {
    inputs,
    outputs,
    open,
  }: { open: readonly OpenConstant[] } & Record<
    'inputs' | 'outputs',
    readonly Grown<TensorSpec['dtype']>[]
  >,
): OpenGraph['at'] {
  const specOf = ({ name, dtype, shape }: (typeof inputs)[number], sizes: Sizes): TensorSpec => ({
    name,
    dtype,
    shape: shape.map((size) => valueAt(size, sizes)),
  });
  const atSizes = (sizes: Sizes): GraphAtSizes => ({
    inputs: inputs.map((input) => specOf(input, sizes)),
    outputs: outputs.map((output) => specOf(output, sizes)),
    shapes: open.map(({ name, shape, numbers }) => {
      const data = BigInt64Array.from(numbers, (number) => BigInt(valueAt(number, sizes)));
      return { name, shape, data };
    }),
  });
  const known = new Remembered<GraphAtSizes>(sizesRemembered);
  return (sizes) => known.get(names.map((name) => sizes[name]).join(' '), () => atSizes(sizes));
}

/** A tensor whose shape grows. */
interface Grown<DType extends GraphDType> {
  name: string;
  dtype: DType;
  shape: readonly Growth[];
}

const portOf = ({ name, dtype, shape }: Grown<GraphDType>): Port => ({
  name,
  dtype,
  shape: shape.map(dimOf),
});

/** How the shapes of inputs or outputs grow. */
const grown = (
  recorded: Recordings,
  of: (recording: Recording) => readonly TensorSpec[],
): Grown<TensorSpec['dtype']>[] =>
  of(recorded.base).map(({ name, dtype, shape }, i) => ({
    name,
    dtype,
    shape: shape.map((_, axis) => recorded.growthOf((recording) => of(recording)[i]!.shape[axis]!)),
  }));

/** The same of what nodes compute, as far as the recorder knows it. */
function grownResults(recorded: Recordings): Grown<GraphDType>[] {
  const { nodes, results } = recorded.base.graph;
  return nodes
    .flatMap(({ outputs }) => outputs)
    .flatMap((name) => {
      const result = results.get(name);
      if (result === undefined) return [];
      const shape = result.shape.map((_, axis) =>
        recorded.growthOf(({ graph }) => graph.results.get(name)!.shape[axis]!),
      );
      return [{ name, dtype: result.dtype, shape }];
    });
}

interface OpenConstant extends Pick<Initializer, 'name' | 'shape'> {
  numbers: readonly Growth[];
}

/** Constants that are not the same at all sizes, and how their numbers grow. */
function openConstants(recorded: Recordings): OpenConstant[] {
  const { base, others } = recorded;
  return base.graph.initializers.flatMap(({ name, shape, bytes }, index) => {
    const at = ({ graph }: Recording): Initializer => graph.initializers[index]!;
    if (others.every((other) => sameData(at(other).bytes, bytes))) return [];
    const numbers = (recording: Recording): readonly number[] => numbersOf(at(recording));
    const count = numbers(base).length;
    if (others.some((other) => numbers(other).length !== count))
      throw notTheSame(`The length of a constant (here ${count})`);
    const growthAt = (i: number): Growth =>
      recorded.growthOf((recording) => numbers(recording)[i]!);
    return [{ name, shape, numbers: Array.from({ length: count }, (_, i) => growthAt(i)) }];
  });
}

/** Of a constant that may become an input: only shapes may. */
function numbersOf({ dtype, bytes }: Initializer): number[] {
  if (dtype !== 'int64') throw notTheSame(`A constant of ${dtype}`);
  const { buffer, byteOffset, byteLength } = bytes;
  return Array.from(new BigInt64Array(buffer, byteOffset, byteLength / 8), Number);
}
