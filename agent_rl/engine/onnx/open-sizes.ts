import { AgentRlError } from '../../core/errors.ts';
import { Remembered } from '../../core/collections/remembered.ts';
import type { Sizes, TensorSpec } from '../engine.ts';
import type { Initializer } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import type { ModelGraph, Port } from './encode-model.ts';

/** A number that grows evenly with each size. */
interface Linear {
  constant: number;
  slopes: readonly (readonly [size: string, slope: number])[];
}

/** A graph whose sizes are known only when it runs: what depends on them is among its inputs. */
export interface OpenGraph extends ModelGraph {
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
const samples = [10_007, 20_011, 30_011, 40_009];
/** How much larger each is where it alone, and where all of them, are other sizes. */
const [alone, together] = [62, 138];
/** Added in a second attempt: numbers may be equal by chance at one size and not at another. */
const elsewhere = 100_036;

const sizesRemembered = 64;

/**
 * Opens the sizes of a program, which is recorded at a few of them: the same operations must come of all, and numbers of shapes that
 * grow evenly with each size.
 *
 * @throws AgentRlError `NOT_TRACEABLE` where they do not
 */
export function openSizes(
  trace: (sizes: Sizes) => TracedProgram,
  names: readonly string[],
): OpenGraph {
  const at = (more: number): Sizes =>
    Object.fromEntries(names.map((name, i) => [name, samples[i]! + more]));
  try {
    return openFrom(trace, { names, at });
  } catch {
    return openFrom(trace, { names, at: (more) => at(more + elsewhere) });
  }
}

function openFrom(
  trace: (sizes: Sizes) => TracedProgram,
  { names, at }: { names: readonly string[]; at: (more: number) => Sizes },
): OpenGraph {
  const first = at(0);
  const base = trace(first);
  const others = names.map((name) => trace({ ...first, [name]: first[name]! + alone }));
  const lastSizes = at(together);
  const last = trace(lastSizes);
  for (const other of [...others, last]) assertAlike(base, other);

  /** What a number of the recordings is at all sizes. */
  const linear = (of: (traced: TracedProgram) => number): Linear => {
    const number = of(base);
    const slopes = names
      .map((name, i) => [name, (of(others[i]!) - number) / alone] as const)
      .filter(([, slope]) => slope !== 0);
    const constant = number - slopes.reduce((sum, [name, slope]) => sum + slope * first[name]!, 0);
    const found = { constant, slopes };
    if (valueAt(found, lastSizes) === of(last)) return found;
    throw notEven(`A number of a shape, ${number} at ${JSON.stringify(first)}`);
  };
  const shapesOf = (specs: (traced: TracedProgram) => readonly { shape: readonly number[] }[]) =>
    specs(base).map(({ shape }, index) =>
      shape.map((_, axis) => linear((traced) => specs(traced)[index]!.shape[axis]!)),
    );
  const inputShapes = shapesOf(({ graph }) => graph.inputs);
  const outputShapes = shapesOf(({ outputs }) => outputs);

  const open = new Map<string, Linear[]>();
  for (const [index, { name, bytes }] of base.graph.initializers.entries()) {
    const all = [...others, last].map(({ graph }) => graph.initializers[index]!);
    if (all.every((other) => sameBytes(other.bytes, bytes))) continue;
    const numbers = (traced: TracedProgram) => numbersOf(traced.graph.initializers[index]!);
    const count = numbers(base).length;
    if (all.some((other) => numbersOf(other).length !== count))
      throw notEven(`The length of a constant, ${count} at ${JSON.stringify(first)}`);
    open.set(
      name,
      Array.from({ length: count }, (_, i) => linear((traced) => numbers(traced)[i]!)),
    );
  }
  const specsAt =
    (specs: readonly TensorSpec[], shapes: readonly Linear[][]) =>
    (sizes: Sizes): TensorSpec[] =>
      specs.map(({ name, dtype }, i) => ({
        name,
        dtype,
        shape: shapes[i]!.map((size) => valueAt(size, sizes)),
      }));
  const inputsAt = specsAt(base.inputs, inputShapes);
  const outputsAt = specsAt(base.outputs, outputShapes);
  const atSizes = (sizes: Sizes): GraphAtSizes => ({
    inputs: inputsAt(sizes),
    outputs: outputsAt(sizes),
    shapes: [...open].map(([name, numbers]) => [
      name,
      BigInt64Array.from(numbers, (number) => BigInt(valueAt(number, sizes))),
    ]),
  });
  const known = new Remembered<GraphAtSizes>(sizesRemembered);
  return {
    nodes: base.graph.nodes,
    initializers: base.graph.initializers.filter(({ name }) => !open.has(name)),
    inputs: [
      ...base.graph.inputs.map(({ name, dtype }, i) => ({
        name,
        dtype,
        shape: inputShapes[i]!.map(dimOf),
      })),
      ...[...open].map(([name, { length }]): Port => ({ name, shape: [length], dtype: 'int64' })),
    ],
    outputNames: base.outputNames,
    outputs: base.outputs.map(({ name, dtype }, i) => ({
      name,
      dtype,
      shape: outputShapes[i]!.map(dimOf),
    })),
    at: (sizes) => known.get(names.map((name) => sizes[name]).join(' '), () => atSizes(sizes)),
  };
}

const valueAt = ({ constant, slopes }: Linear, sizes: Sizes): number =>
  slopes.reduce((sum, [name, slope]) => sum + slope * sizes[name]!, constant);

/** The same name where it is the same number. */
const dimOf = ({ constant, slopes }: Linear): number | string =>
  slopes.length === 0
    ? constant
    : [constant, ...slopes.map(([name, slope]) => `${slope}*${name}`)].join('+');

function assertAlike(a: TracedProgram, b: TracedProgram): void {
  if (formOf(a) !== formOf(b)) throw notEven('Which operations are recorded');
}

/** What must be the same at all sizes. */
const formOf = ({ graph, outputNames }: TracedProgram): string =>
  JSON.stringify([
    graph.nodes,
    graph.initializers.map(({ name, dtype }) => [name, dtype]),
    outputNames,
  ]);

const notEven = (what: string): AgentRlError =>
  new AgentRlError(
    'NOT_TRACEABLE',
    `${what}, depends on the sizes of the program otherwise than evenly; pass what depends on them in as an input.`,
  );

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Of a constant that may become an input: only shapes may. */
function numbersOf({ dtype, bytes }: Initializer): number[] {
  if (dtype !== 'int64') throw notEven(`A constant of ${dtype}`);
  const { buffer, byteOffset, byteLength } = bytes;
  return Array.from(new BigInt64Array(buffer, byteOffset, byteLength / 8), Number);
}
