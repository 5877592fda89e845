import type { KernelBackend, TensorInfo } from '@tensorflow/tfjs-core';

/** How tfjs calls a kernel of its `cpu` backend. */
export interface KernelCall {
  inputs: Readonly<Record<string, TensorInfo | undefined>>;
  attrs?: object | undefined;
  backend: unknown;
}

export type Values = Float32Array | Int32Array | Uint8Array;

export const valuesOf = (backend: KernelBackend, { dataId }: TensorInfo): Values =>
  backend.readSync(dataId) as Values;

export const zeros = (dtype: string, size: number): Values => {
  if (dtype === 'float32') return new Float32Array(size);
  return dtype === 'bool' ? new Uint8Array(size) : new Int32Array(size);
};

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
