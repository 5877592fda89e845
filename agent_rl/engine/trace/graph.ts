import { AgentRlError } from '../../core/errors.ts';
import { sizeOf } from '../check-inputs.ts';
import { computed, narrowed, sameShape, type TraceDType, type Value } from './value.ts';

/** Element types of a graph; int64 is only for the shapes and axes that ONNX wants as inputs. */
export type GraphDType = TraceDType | 'int64';

/** ONNX's numbers of them. */
export const elementTypes: Readonly<Record<GraphDType, number>> = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
};

/** A number is an integer. */
export type AttributeValue = number | { float: number } | readonly number[] | string;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface GraphNode {
  operator: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Attributes;
  /** Of a loop: what every round does. It reads names of the graph around it too. */
  body?: GraphBody | undefined;
}

/** Nodes that are done again and again. */
export interface GraphBody {
  nodes: readonly GraphNode[];
  inputs: readonly BodyPort[];
  outputs: readonly BodyPort[];
}

interface BodyPort {
  name: string;
  dtype: GraphDType;
  /** Absent where it is inferred. */
  shape?: readonly number[];
}

/** Names that a node reads, those that only its body reads too. */
export const readBy = ({ inputs, body }: GraphNode): readonly string[] =>
  body === undefined
    ? inputs
    : [...inputs, ...body.nodes.flatMap(readBy), ...body.outputs.map(({ name }) => name)];

export interface Initializer {
  name: string;
  shape: readonly number[];
  dtype: GraphDType;
  bytes: Uint8Array;
}

export interface GraphInput extends Pick<Value, 'shape' | 'dtype'> {
  name: string;
}

export const bytesOfElement: Readonly<Record<GraphDType, number>> = {
  float32: 4,
  int32: 4,
  int64: 8,
  bool: 1,
  uint8: 1,
};

const bytesOf = (data: ArrayLike<number>, dtype: TraceDType): Uint8Array => {
  if (dtype === 'uint8' && data instanceof Uint8Array) return data;
  if (dtype === 'bool' || dtype === 'uint8') return Uint8Array.from(data);
  const Elements = dtype === 'float32' ? Float32Array : Int32Array;
  // Weights are large: an array that already has the right elements is not copied.
  const { buffer, byteOffset, byteLength } = data instanceof Elements ? data : Elements.from(data);
  return new Uint8Array(buffer, byteOffset, byteLength);
};

/**
 * A recording of tensor operations, in the operator set of ONNX. Nodes are kept in the order they were
 * recorded, which is a topological order.
 */
export class Graph {
  readonly nodes: GraphNode[] = [];
  readonly initializers: Initializer[] = [];
  readonly inputs: GraphInput[] = [];
  /** What nodes compute, by name, as far as the recorder knows. */
  readonly results = new Map<string, { shape: readonly number[]; dtype: GraphDType }>();
  /** What rounds carry on. It may be shorter than where it began, and its shape is not known. */
  readonly #carried = new Set<string>();
  #names = new Map<Value, string>();
  readonly #shared = new Map<string, string>();
  #count = 0;

  input(name: string, shape: readonly number[], dtype: TraceDType): Value {
    this.inputs.push({ name, shape, dtype });
    return computed(name, shape, dtype);
  }

  /** Remembers the shape of a computed value. */
  noteShape({ shape, dtype, source }: Value): void {
    if (source.kind === 'node' && !this.#carried.has(source.name))
      this.results.set(source.name, { shape, dtype });
  }

  constant(
    name: string,
    { shape, dtype }: Omit<GraphInput, 'name'>,
    data: ArrayLike<number>,
  ): Value {
    this.initializers.push({ name, shape, dtype, bytes: bytesOf(data, dtype) });
    return computed(name, shape, dtype);
  }

  /**
   * Records one operator.
   *
   * @param as name of its output, where something outside the graph knows it by one
   * @returns the name of its output
   */
  emit(
    operator: string,
    inputs: readonly string[],
    attributes: Attributes = {},
    as = this.#fresh('t'),
  ): string {
    this.nodes.push({ operator, inputs, outputs: [as], attributes });
    return as;
  }

  /** Records one operator whose output no tensor stands for, and notes its shape; a float32 scalar where that is not given. */
  emitKnown(
    operator: string,
    inputs: readonly string[],
    { shape = [], dtype = 'float32' }: { shape?: readonly number[]; dtype?: GraphDType } = {},
  ): string {
    const name = this.emit(operator, inputs);
    this.results.set(name, { shape, dtype });
    return name;
  }

  /** Records one operator and returns the names of its outputs. */
  emitMany(
    operator: string,
    inputs: readonly string[],
    count: number,
    attributes: Attributes,
  ): string[] {
    const outputs = Array.from({ length: count }, () => this.#fresh('t'));
    this.nodes.push({ operator, inputs, outputs, attributes });
    return outputs;
  }

  /**
   * Records a loop of `count` rounds over what each leaves to the next.
   *
   * @param record records a round; its number is [1] int32
   * @returns names of what the last round left, and of what all gave, with an axis of rounds before the others
   */
  loop(
    count: number,
    first: readonly Value[],
    record: (
      carried: readonly Value[],
      number: Value,
    ) => { carried: readonly Value[]; given: readonly Value[] },
  ): string[] {
    const initial = first.map((value) => this.nameOf(value));
    const [number, condition] = [this.#fresh('t'), this.#fresh('t')];
    const carried = first.map(({ shape, dtype }) => computed(this.#fresh('t'), shape, dtype));
    const start = this.nodes.length;
    const outside = new Map(this.#names);
    const numbered = this.emit('Reshape', [this.cast(number, 'int32'), this.int64s([1])]);
    const left = record(carried, computed(numbered, [1], 'int32'));
    const results = [...left.carried, ...left.given];
    // What a round leaves must be its own: a name from outside, or one that is carried on as it was, is copied.
    const own = results.map((value) => this.emit('Identity', [this.nameOf(value)]));
    const goesOn = this.emit('Identity', [condition]);
    const body: GraphBody = {
      nodes: this.nodes.splice(start),
      inputs: [
        { name: number, dtype: 'int64', shape: [] },
        { name: condition, dtype: 'bool', shape: [] },
        ...carried.map((value) => ({ name: this.nameOf(value), dtype: value.dtype })),
      ],
      outputs: [
        { name: goesOn, dtype: 'bool' },
        ...own.map((name, at) => ({ name, dtype: results[at]!.dtype })),
      ],
    };
    // What was made of constants inside is not known outside.
    this.#names = outside;
    const outputs = results.map(() => this.#fresh('t'));
    for (const name of outputs.slice(0, first.length)) this.#carried.add(name);
    const inputs = [this.int64s([count]), this.scalar(1, 'bool'), ...initial];
    this.nodes.push({ operator: 'Loop', inputs, outputs, attributes: {}, body });
    return outputs;
  }

  /** Records a conversion of elements. */
  cast(name: string, dtype: GraphDType): string {
    return this.emit('Cast', [name], { to: elementTypes[dtype] });
  }

  /** Name of `value`, materialising a constant, uniform or broadcast one the first time. */
  nameOf(value: Value): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const name = this.#materialise(value);
    this.#names.set(value, name);
    return name;
  }

  /**
   * Names of elementwise operands whose broadcast shape is `shape`, each as small as that allows: a scalar or
   * a row is broadcast by the operator itself instead of being expanded first.
   */
  operands(values: readonly Value[], shape: readonly number[]): string[] {
    const small = values.map(narrowed);
    const covered = shape.every((size, axis) =>
      small.some((value) => {
        const own = axis - (shape.length - value.shape.length);
        return size === 1 || (own >= 0 && value.shape[own] === size);
      }),
    );
    const rankHeld = small.some((value) => value.shape.length === shape.length);
    if (covered && rankHeld) return small.map((value) => this.nameOf(value));
    const whole = values.findIndex((value) => sameShape(value.shape, shape));
    const expanded = (index: number): boolean => whole === -1 || index === whole;
    return values.map((value, index) => this.nameOf(expanded(index) ? value : small[index]!));
  }

  /** A one-dimensional int64 constant, shared by equal ones. */
  int64s(values: readonly number[]): string {
    return this.#share(`int64[${values.join(',')}]`, () => ({
      shape: [values.length],
      dtype: 'int64',
      bytes: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
    }));
  }

  /** The same of one number, of no dimension. */
  int64(number: number): string {
    return this.#share(`int64 ${number}`, () => ({
      shape: [],
      dtype: 'int64',
      bytes: new Uint8Array(BigInt64Array.of(BigInt(number)).buffer),
    }));
  }

  /** A scalar constant, shared by equal ones. */
  scalar(number: number, dtype: TraceDType = 'float32'): string {
    const key = Object.is(number, -0) ? '-0' : String(number);
    return this.#share(`${dtype} ${key}`, () => ({
      shape: [],
      dtype,
      bytes: bytesOf([number], dtype),
    }));
  }

  #share(key: string, make: () => Omit<Initializer, 'name'>): string {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const name = this.#fresh('c');
    this.initializers.push({ name, ...make() });
    this.#shared.set(key, name);
    return name;
  }

  #materialise({ shape, dtype, source }: Value): string {
    if (source.kind === 'node') return source.name;
    if (source.kind === 'constant') return this.#embed(source.data, shape, dtype);
    if (source.kind === 'uniform' && shape.length === 0) return this.scalar(source.number, dtype);
    const small =
      source.kind === 'uniform' ? this.scalar(source.number, dtype) : this.nameOf(source.of);
    const expanded = this.emit('Expand', [small, this.int64s(shape)]);
    this.results.set(expanded, { shape, dtype });
    return expanded;
  }

  #embed(data: ArrayLike<number>, shape: readonly number[], dtype: TraceDType): string {
    if (data.length !== sizeOf(shape)) {
      throw new AgentRlError(
        'ENGINE_FAILED',
        `A traced constant of shape [${shape.join(', ')}] must have ${sizeOf(shape)} elements, got ${data.length}.`,
      );
    }
    const name = this.#fresh('k');
    this.constant(name, { shape, dtype }, data);
    return name;
  }

  #fresh(prefix: string): string {
    this.#count += 1;
    return `${prefix}#${this.#count}`;
  }
}
