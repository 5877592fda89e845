import type { DataType } from '@tensorflow/tfjs-core';
import type { Graph } from './graph.ts';
import type { Value } from './value.ts';

/** Inputs by tfjs's names: every kernel is given its own. */
export type KernelInputs = Readonly<
  Record<
    | 'a'
    | 'b'
    | 'condition'
    | 'e'
    | 'indices'
    | 'input'
    | 'logits'
    | 'params'
    | 'segmentIds'
    | 't'
    | 'updates'
    | 'value'
    | 'x',
    Value
  >
>;

/** Attributes by tfjs's names: every kernel is given its own, and reads no other. */
export interface KernelAttributes {
  alpha: number;
  axis: number | number[];
  batchDims: number;
  begin: number | number[];
  clipValueMax: number;
  clipValueMin: number;
  constantValue: number;
  depth: number;
  dim: number;
  dims: number[];
  dtype: DataType;
  exclusive: boolean;
  k: number;
  keepDims: boolean;
  numOrSizeSplits: number | number[];
  numSegments: number;
  offValue: number;
  onValue: number;
  paddings: [number, number][];
  perm: number[];
  reductionIndices?: number | number[];
  reps: number[];
  reverse: boolean;
  shape: number[];
  size: number | number[];
  start: number;
  step: number;
  stop: number;
  transposeA: boolean;
  transposeB: boolean;
  value: number;
}

/** Records one tfjs kernel in a graph. */
export type TraceKernel = (
  graph: Graph,
  inputs: KernelInputs,
  attributes: KernelAttributes,
) => Value | Value[];

export type KernelTable = Readonly<Record<string, TraceKernel>>;

/** The axes an attribute names, none below zero; all of them when it is absent. */
export function axesOf(axis: number | number[] | null | undefined, { shape }: Value): number[] {
  if (axis === undefined || axis === null) return [...shape.keys()];
  return [axis].flat().map((one) => (one < 0 ? one + shape.length : one));
}
