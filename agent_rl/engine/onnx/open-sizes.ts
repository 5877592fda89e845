import { AgentRlError } from '../../core/errors.ts';
import { Remembered } from '../../core/collections/remembered.ts';
import type { Sizes, TensorSpec } from '../engine.ts';
import type { Initializer } from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';
import type { ModelGraph, Port } from './encode-model.ts';
import { dimOf, type Growth, growths, together, valueAt } from './size-growth.ts';

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
const samples = [10_007, 20_011, 30_011, 40_009, 50_021];
/** How much larger each is where it alone is another size. */
const alone = 62;
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
  const at = (more: readonly number[]): Sizes =>
    Object.fromEntries(names.map((name, i) => [name, samples[i]! + more[i]!]));
  const nothing = samples.map(() => 0);
  try {
    return openFrom(trace, { names, first: at(nothing) });
  } catch {
    return openFrom(trace, { names, first: at(nothing.map(() => elsewhere)) });
  }
}

function openFrom(
  trace: (sizes: Sizes) => TracedProgram,
  { names, first }: { names: readonly string[]; first: Sizes },
): OpenGraph {
  const record = (sizes: Sizes) => ({ sizes, traced: trace(sizes) });
  const { traced: base } = record(first);
  const others = names.map((name) => record({ ...first, [name]: first[name]! + alone }));
  const lasts = together.map((more) =>
    record(Object.fromEntries(names.map((name, i) => [name, first[name]! + more[i]!]))),
  );
  for (const { traced } of [...others, ...lasts]) assertAlike(base, traced);

  /** How a number of the recordings grows. */
  const growthOf = (of: (traced: TracedProgram) => number): Growth => {
    const number = of(base);
    const alike = (growth: Growth): boolean =>
      lasts.every(({ sizes, traced }) => valueAt(growth, sizes) === of(traced));
    const slopes = others.map(({ traced }) => (of(traced) - number) / alone);
    const found = growths({ names, first, number, slopes, last: of(lasts[0]!.traced) });
    const growth = found.find(alike);
    if (growth !== undefined) return growth;
    throw notEven(`A number of a shape, ${number} at ${JSON.stringify(first)}`);
  };
  const shapesOf = (specs: (traced: TracedProgram) => readonly { shape: readonly number[] }[]) =>
    specs(base).map(({ shape }, index) =>
      shape.map((_, axis) => growthOf((traced) => specs(traced)[index]!.shape[axis]!)),
    );
  const inputShapes = shapesOf(({ graph }) => graph.inputs);
  const outputShapes = shapesOf(({ outputs }) => outputs);

  const results = base.graph.nodes
    .flatMap(({ outputs }) => outputs)
    .flatMap((name): Port[] => {
      const shapeIn = ({ graph }: TracedProgram) => graph.results.get(name)?.shape;
      const result = base.graph.results.get(name);
      if (result === undefined) return [];
      const shape = result.shape.map((_, axis) => growthOf((traced) => shapeIn(traced)![axis]!));
      return [{ name, dtype: result.dtype, shape: shape.map(dimOf) }];
    });

  const open = new Map<string, Growth[]>();
  for (const [index, { name, bytes }] of base.graph.initializers.entries()) {
    const all = [...others, ...lasts].map(({ traced }) => traced.graph.initializers[index]!);
    if (all.every((other) => sameBytes(other.bytes, bytes))) continue;
    const numbers = (traced: TracedProgram) => numbersOf(traced.graph.initializers[index]!);
    const count = numbers(base).length;
    if (all.some((other) => numbersOf(other).length !== count))
      throw notEven(`The length of a constant, ${count} at ${JSON.stringify(first)}`);
    open.set(
      name,
      Array.from({ length: count }, (_, i) => growthOf((traced) => numbers(traced)[i]!)),
    );
  }
  const specsAt =
    (specs: readonly TensorSpec[], shapes: readonly Growth[][]) =>
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
    results,
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
