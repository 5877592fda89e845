import type { DataType, KernelBackend, Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import { AgentRlError } from '../../core/errors.ts';
import { tfjs } from '../tfjs.ts';
import type { Graph } from './graph.ts';
import { traceDType, uniform, type TraceDType, type Value } from './value.ts';

type BackendValues = Parameters<KernelBackend['write']>[0];

/** Name under which the recording backend is registered with tfjs. */
export const traceBackendName = 'trace';

const allEqual = (data: ArrayLike<number>): boolean => {
  for (let i = 1; i < data.length; i++) if (data[i] !== data[0]) return false;
  return data.length > 0;
};

const valueOfData = (data: ArrayLike<number>, shape: number[], dtype: TraceDType): Value =>
  allEqual(data)
    ? uniform(Number(data[0]), shape, dtype)
    : { shape, dtype, source: { kind: 'constant', data } };

/**
 * A tfjs backend that executes nothing: its kernels record what they are asked in the current `graph`, and its
 * tensors stand for values of that graph.
 */
export class TraceBackend extends tfjs.KernelBackend {
  #values = new WeakMap<object, Value>();
  #graph: Graph | undefined;

  /** The graph being recorded. */
  get graph(): Graph {
    if (this.#graph !== undefined) return this.#graph;
    throw new AgentRlError('NOT_TRACEABLE', 'A traced tensor was used after its trace had ended.');
  }

  /** Runs `body` with every kernel call going to `graph`. */
  record<T>(graph: Graph, body: () => T): T {
    if (this.#graph !== undefined) {
      throw new AgentRlError('NOT_TRACEABLE', 'A program body may not compile another program.');
    }
    this.#graph = graph;
    try {
      return body();
    } finally {
      this.#graph = undefined;
      this.#values = new WeakMap();
    }
  }

  /** A handle through which tfjs passes `value` around. */
  infoOf(value: Value): TensorInfo {
    this.#graph?.noteShape(value);
    const dataId = {};
    this.#values.set(dataId, value);
    const dtype = value.dtype === 'uint8' ? 'int32' : value.dtype;
    return { dataId, shape: [...value.shape], dtype };
  }

  /** A tfjs tensor standing for `value`. */
  tensorOf(value: Value): Tensor {
    return tfjs.engine().makeTensorFromTensorInfo(this.infoOf(value));
  }

  lookUp(info: TensorInfo): Value {
    const value = this.#values.get(info.dataId);
    if (value !== undefined) return value;
    throw new AgentRlError(
      'NOT_TRACEABLE',
      `A tensor of shape [${info.shape.join(', ')}] was created outside the program body; pass it in as an input.`,
    );
  }

  override write(data: BackendValues, shape: number[], dtype: DataType): object {
    const dataId = {};
    this.move(dataId, data, shape, dtype);
    return dataId;
  }

  override move(dataId: object, data: BackendValues, shape: number[], dtype: DataType): void {
    const kind = traceDType(dtype);
    if (Array.isArray(data)) {
      throw new AgentRlError('NOT_TRACEABLE', 'Tensors of strings cannot be traced.');
    }
    this.#values.set(dataId, valueOfData(data, shape, kind));
  }

  override readSync(): never {
    throw new AgentRlError(
      'NOT_TRACEABLE',
      'A tensor was read (dataSync, arraySync, print, ...) inside a program body, where it has no elements yet; ' +
        'return it as an output instead.',
    );
  }

  override read(): Promise<never> {
    return Promise.reject(
      new AgentRlError(
        'NOT_TRACEABLE',
        'A tensor was read (data, array, ...) inside a program body; return it as an output instead.',
      ),
    );
  }

  // Handles are collected with their tensors: there is nothing to count or to free.
  override disposeData = () => true;
  override refCount = () => 1;
  override incRef = () => undefined;
  decRef = () => undefined;
  override numDataIds = () => 0;
  override memory = () => ({ unreliable: true });
  override timerAvailable = () => false;
  override floatPrecision = () => 32 as const;
  override epsilon = () => 1e-7;
  override dispose = () => undefined;
}
