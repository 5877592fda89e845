import { describe, test } from '@jest/globals';

import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import type { ProgramBody, TensorData, TensorSpec } from '#agent_rl/engine/engine.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import {
  dataOf,
  expectClose,
  expectSameAsOracle,
  specsOf,
  type RandomInputs,
} from './engine-oracle.ts';

export type Operation = (inputs: Record<string, Tensor>) => Tensor;

/** Sum of the values times fixed, unequal weights: a scalar whose gradient reaches every element. */
const weightedSum = (y: Tensor): Tensor => {
  const count = y.shape.reduce((a, b) => a * b, 1);
  const weights = tf.reshape(tf.sin(tf.range(1, count + 1)), y.shape);
  return tf.sum(tf.mul(y, weights));
};

/** Value and gradients, with respect to the inputs named. */
export const valueAndGradients =
  (operation: Operation, names: readonly string[]): ProgramBody =>
  (inputs) => {
    const total = (...tensors: Tensor[]) => {
      const changed = Object.fromEntries(names.map((name, i) => [name, tensors[i]!]));
      return weightedSum(operation({ ...inputs, ...changed })) as ReturnType<typeof tf.scalar>;
    };
    const gradients = tf.grads(total)(names.map((name) => inputs[name]!));
    return {
      value: operation(inputs),
      ...Object.fromEntries(gradients.map((gradient, i) => [`gradient ${names[i]}`, gradient])),
    };
  };

const runOnCpu = async (
  specs: readonly TensorSpec[],
  body: ProgramBody,
  data: Record<string, TensorData>,
) => {
  const oracle = await EagerEngine.open('cpu');
  return (await oracle.compile(specs, body)).run(data);
};

/** Both operations give the same value and gradients on tfjs's `cpu` backend. */
export async function expectSameGradients(
  inputs: RandomInputs,
  names: readonly string[],
  [actual, expected]: readonly [Operation, Operation],
): Promise<void> {
  const [specs, data] = [specsOf(inputs), dataOf(inputs, 'gradients')];
  const own = await runOnCpu(specs, valueAndGradients(actual, names), data);
  const reference = await runOnCpu(specs, valueAndGradients(expected, names), data);
  for (const [name, values] of Object.entries(reference)) expectClose(own[name]!, values, 1e-5);
}

/** The gradient equals central differences, to what float32 allows. */
export async function expectFiniteDifferences(
  inputs: RandomInputs,
  names: readonly string[],
  operation: Operation,
): Promise<void> {
  const [specs, data] = [specsOf(inputs), dataOf(inputs, 'differences')];
  const analytic = await runOnCpu(specs, valueAndGradients(operation, names), data);
  const oracle = await EagerEngine.open('cpu');
  const summed: ProgramBody = (tensors) => ({ total: weightedSum(operation(tensors)) });
  const total = await oracle.compile(specs, summed);
  const step = 1e-2;
  for (const name of names) {
    const values = data[name]!;
    const numeric = new Float32Array(values.length);
    for (let i = 0; i < values.length; i++) {
      const at = async (offset: number): Promise<number> => {
        const moved = Float32Array.from(values);
        moved[i]! += offset;
        return (await total.run({ ...data, [name]: moved }))['total']![0]!;
      };
      numeric[i] = ((await at(step)) - (await at(-step))) / (2 * step);
    }
    expectClose(analytic[`gradient ${name}`]!, numeric, 5e-3);
  }
}

/** An operation, on random inputs, beside the plain operations that it stands for. */
export interface CheckedOperation {
  inputs: RandomInputs;
  differentiated: readonly string[];
  operation: Operation;
  composed: Operation;
}

export function describeOperation(
  name: string,
  { inputs, differentiated, operation, composed }: CheckedOperation,
): void {
  // oxlint-disable-next-line jest/valid-title -- what it is given
  describe(name, () => {
    test('has the value and the gradients of its composition', () =>
      expectSameGradients(inputs, differentiated, [operation, composed]));

    test('has the gradients of finite differences', () =>
      expectFiniteDifferences(inputs, differentiated, operation));

    test('compiles to the same value and gradients', () =>
      expectSameAsOracle(inputs, valueAndGradients(operation, differentiated)));
  });
}
