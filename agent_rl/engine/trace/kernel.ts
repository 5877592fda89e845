import { AgentRlError } from '../../core/errors.ts';
import type { Graph } from './graph.ts';
import { isTraceDType, type TraceDType, type Value } from './value.ts';

/** tfjs gives kernels their attributes untyped; each kernel states what it reads. */
export type KernelAttributes = Readonly<Record<string, unknown>>;

/** Records one tfjs kernel in a graph. */
export type TraceKernel = (
  graph: Graph,
  inputs: Readonly<Record<string, Value>>,
  attributes: KernelAttributes,
) => Value | Value[];

export type KernelTable = Readonly<Record<string, TraceKernel>>;

/** A required input of a kernel. */
export function inputOf(inputs: Readonly<Record<string, Value>>, name: string): Value {
  const value = inputs[name];
  if (value !== undefined) return value;
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `A traced kernel was called without its input "${name}".`,
  );
}

const refuse = (name: string, expected: string, value: unknown): never => {
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `A traced kernel's attribute "${name}" must be ${expected}, got ${JSON.stringify(value)}.`,
  );
};

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');

/** An attribute that is a number. */
export function numberAttribute(attributes: KernelAttributes, name: string): number {
  const value = attributes[name];
  return typeof value === 'number' ? value : refuse(name, 'a number', value);
}

/** An attribute that is a list of numbers. */
export function numbersAttribute(attributes: KernelAttributes, name: string): number[] {
  const value = attributes[name];
  return isNumbers(value) ? value : refuse(name, 'a list of numbers', value);
}

/** The axes an attribute names, none below zero; all of them when it is absent. */
export function axesAttribute(
  attributes: KernelAttributes,
  name: string,
  shape: readonly number[],
) {
  const value = attributes[name];
  if (value === undefined || value === null) return shape.map((_, axis) => axis);
  const axes = isNumbers(value) ? value : [numberAttribute(attributes, name)];
  return axes.map((axis) => (axis < 0 ? axis + shape.length : axis));
}

/** The one axis an attribute names. */
export function axisAttribute(
  attributes: KernelAttributes,
  name: string,
  shape: readonly number[],
): number {
  return axesAttribute(attributes, name, shape)[0]!;
}

/** An attribute that is an element type; `absent` when it is not given. */
export function dtypeAttribute(attributes: KernelAttributes, absent: TraceDType): TraceDType {
  const value = attributes['dtype'] ?? absent;
  return isTraceDType(value) ? value : refuse('dtype', 'float32, int32 or bool', value);
}

/** A value computed by the node output `name`. */
export const computed = (
  name: string,
  shape: readonly number[],
  dtype: Value['dtype'] = 'float32',
): Value => ({ shape, dtype, source: { kind: 'node', name } });
