import { expect } from '@jest/globals';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { ProgramBody, TensorData, TensorSpec } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';

/** Random input of a program: normal numbers by default, whole numbers in [low, high) when `high` is given. */
interface RandomInput {
  shape: readonly number[];
  low?: number;
  high?: number;
  /** Whole numbers as float32. */
  whole?: boolean;
  /** Whole numbers from 0 to 255, as bytes. */
  bytes?: true;
  /** Added to the magnitude of normal numbers, to keep clear of zero; with `positive`, no sign. */
  positive?: boolean;
}

export type RandomInputs = Readonly<Record<string, RandomInput>>;

const dtypeOf = ({ bytes, high, whole }: RandomInput): TensorSpec['dtype'] => {
  if (bytes) return 'uint8';
  return high !== undefined && !whole ? 'int32' : 'float32';
};

const arrays = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

export const specsOf = (inputs: RandomInputs): TensorSpec[] =>
  Object.entries(inputs).map(([name, input]) => {
    return { name, shape: input.shape, dtype: dtypeOf(input) };
  });

const numberOf = ({ low = 0, high, positive, bytes }: RandomInput, rng: KeyedRng): number => {
  if (bytes) return rng.integer(256);
  if (high !== undefined) return low + rng.integer(high - low);
  const normal = rng.normal();
  return positive ? 0.1 + Math.abs(normal) : normal;
};

export function dataOf(inputs: RandomInputs, key: string): Record<string, TensorData> {
  const rng = new KeyedRng('engine oracle', key);
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => {
      const length = input.shape.reduce((a, b) => a * b, 1);
      const numbers = Array.from({ length }, () => numberOf(input, rng));
      return [name, arrays[dtypeOf(input)].from(numbers)];
    }),
  );
}

/** Largest difference allowed between two float32 results, relative to the larger of 1 and the value. */
const tolerance = 2e-5;

export function expectClose(actual: TensorData, expected: TensorData, allowed = tolerance): void {
  expect(actual.constructor.name).toBe(expected.constructor.name);
  expect(actual.length).toBe(expected.length);
  const off = [...expected].findIndex((value, index) => {
    const other = actual[index]!;
    if (Number.isNaN(value) || !Number.isFinite(value)) return !Object.is(value, other);
    return !(Math.abs(value - other) <= allowed * Math.max(1, Math.abs(value)));
  });
  if (off !== -1) throw new Error(`Element ${off} is ${actual[off]}, expected ${expected[off]}.`);
}

/** Runs `body` on ONNX Runtime and on tfjs's `cpu` backend with the same random inputs and compares. */
export async function expectSameAsOracle(inputs: RandomInputs, body: ProgramBody): Promise<void> {
  const specs = specsOf(inputs);
  const data = dataOf(inputs, 'same as oracle');
  const compiled = new OnnxEngine({ device: 'cpu', threads: 1 });
  const oracle = await EagerEngine.open('cpu');
  try {
    const program = await compiled.compile(specs, body);
    const actual = await program.run(data);
    const expected = await (await oracle.compile(specs, body)).run(data);
    expect(Object.keys(actual)).toEqual(Object.keys(expected));
    for (const [name, values] of Object.entries(expected)) expectClose(actual[name]!, values);
  } finally {
    await compiled.close();
  }
}
