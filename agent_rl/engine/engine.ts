import type { Tensor } from '@tensorflow/tfjs-core';

/**
 * Element type of what crosses an engine's border. Booleans exist only inside a program: cast them. Bytes only go
 * in, as packed weights that `quantizedMatMul` alone reads.
 */
export type DType = 'float32' | 'int32' | 'uint8';

/** Name, static shape and element type of one input or output. */
export interface TensorSpec {
  name: string;
  shape: readonly number[];
  dtype: DType;
}

export const float = (name: string, shape: readonly number[]): TensorSpec => ({
  name,
  shape,
  dtype: 'float32',
});

/** Row-major elements: `Float32Array` for float32, `Int32Array` for int32, `Uint8Array` for uint8. */
export type TensorData = Float32Array | Int32Array | Uint8Array;

/** A compiled function on plain typed arrays, for one set of static shapes. */
export interface Program {
  outputs: readonly TensorSpec[];
  /**
   * Inputs by name; the arrays are read, never kept. Outputs are fresh arrays.
   *
   * @param wanted the outputs to fetch, which costs a copy of each; all where it is absent
   * @throws AgentRlError `SHAPE_MISMATCH` when an input is missing, unknown or wrongly sized.
   */
  run(
    inputs: Readonly<Record<string, TensorData>>,
    wanted?: readonly string[],
  ): Promise<Record<string, TensorData>>;
  dispose(): Promise<void>;
}

/** The outputs of a program that a run fetches. */
export const wantedOf = (
  outputs: readonly TensorSpec[],
  wanted: readonly string[] | undefined,
): readonly TensorSpec[] =>
  wanted === undefined ? outputs : outputs.filter(({ name }) => wanted.includes(name));

/**
 * Maths over tfjs tensors, gradients included. It must be a pure function of its inputs: it may be run once,
 * symbolically, and its recording executed from then on.
 */
export type ProgramBody = (inputs: Record<string, Tensor>) => Record<string, Tensor>;

export interface CompileOptions {
  /** What a profile calls its runs. */
  name?: string;
  /**
   * Inputs whose values are fixed for the program's life, by name. They are compiled in, stay on the device, and are not given
   * to `run`. The arrays must be kept and not be written to as long as the program lives.
   */
  constants?: Readonly<Record<string, TensorData>>;
  /**
   * Keep work that appears twice, instead of merging it: activation checkpointing recomputes a block on
   * purpose, to hold less memory.
   */
  keepRecomputation?: boolean;
  /**
   * Threads of one matrix product, where other work waits for the processors while this program runs; they sleep between
   * operations instead of spinning. Slower by itself, faster together. The engine's, spinning, by default.
   */
  threads?: number | undefined;
}

/** Sizes that are known only when a program runs, by name. */
export type Sizes<Name extends string = string> = Readonly<Record<Name, number>>;

/** A program at some sizes. */
export interface SizedBody {
  specs: readonly TensorSpec[];
  body: ProgramBody;
}

/** A compiled function on plain typed arrays, for all sizes of some names. */
export interface SizedProgram {
  /**
   * As `Program.run`.
   *
   * @param options the sizes of this run; the outputs to fetch, all where `wanted` is absent
   */
  run(
    inputs: Readonly<Record<string, TensorData>>,
    options: { sizes: Sizes; wanted?: readonly string[] | undefined },
  ): Promise<Record<string, TensorData>>;
  dispose(): Promise<void>;
}

export interface SizedOptions extends CompileOptions {
  /** What a profile calls a run; `name` where it is absent. */
  runName?: (sizes: Sizes) => string;
  /**
   * Whether products are of many rows. Then the engine receives the shapes of results, as far as the recorder knows them, and fuses
   * as in a program of one size: sums into the products before them too, which makes products of few rows slower.
   */
  manyRows?: boolean;
}

/** Something that executes tfjs maths on a device. */
export interface Engine {
  device: string;
  /** Whether a new shape costs a compilation. Where it does not, nothing needs to be padded to shapes seen before. */
  readonly compiles: boolean;
  /**
   * Whether inputs cost so much, as each run copies them to the device, that several steps had better be one run, and weights that
   * never change constants. Only CUDA says so: nothing else was tried.
   */
  readonly copiesInputs: boolean;
  /**
   * Builds a program for the inputs of `specs`.
   *
   * @throws AgentRlError `NOT_TRACEABLE` when the body reads a tensor's value, draws random numbers or uses an
   * operation that has no traced form; `ENGINE_FAILED` when the device refuses the program.
   */
  compile(
    specs: readonly TensorSpec[],
    body: ProgramBody,
    options?: CompileOptions,
  ): Promise<Program>;
  /**
   * Builds one program for all sizes of some names, so that none is compiled for a size that is new. The body must do
   * the same operations at all of them, on shapes that grow evenly with each or with the product of two.
   *
   * @param of what to compile at some sizes
   * @throws AgentRlError as `compile`, and `NOT_TRACEABLE` where a constant or which operations are done depends on sizes
   */
  compileSized<Name extends string>(
    of: (sizes: Sizes<Name>) => SizedBody,
    names: readonly Name[],
    options?: SizedOptions,
  ): Promise<SizedProgram>;
  close(): Promise<void>;
}
