import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { initialParameters, parameterCount, parameterSpecs } from '#model/config/parameters.ts';
import {
  dequantizedTensor,
  dequantizeMatrix,
  quantizeMatrix,
  quantizeWeights,
} from '#model/weights/quantize-weights.ts';
import { array, assert, double, property } from '#tests/support/properties.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const rowOf = (...first: number[]): Float32Array =>
  Float32Array.from({ length: 16 }, (_, i) => first[i] ?? 0);

/** Root of the mean squared error over that of the values. */
const relativeError = (values: Float32Array, blockSize: number): number => {
  const back = dequantizeMatrix(quantizeMatrix(values, blockSize));
  const squares = (of: (i: number) => number): number =>
    values.reduce((sum, _, i) => sum + of(i) ** 2, 0);
  return Math.sqrt(squares((i) => values[i]! - back[i]!) / squares((i) => values[i]!));
};

describe('quantizeMatrix', () => {
  test('puts the first of two values in the low half of a byte and zero at 8', () => {
    const { packed, scales } = quantizeMatrix(rowOf(-8, 7, 1, -3, 0, 2), 16);
    expect([...scales]).toEqual([1]);
    expect([...packed]).toEqual([0xf0, 0x59, 0xa8, 0x88, 0x88, 0x88, 0x88, 0x88]);
  });

  test('turns the side with eight steps to the largest weight', () => {
    const { packed, scales } = quantizeMatrix(rowOf(4, -3.5), 16);
    expect([...scales]).toEqual([-0.5]);
    expect(packed[0]).toBe(0xf0);
  });

  test.each([16, 32, 64, 128])(
    'gives back exactly what four bits can say, blocks of %d',
    (size) => {
      const rng = new KeyedRng(size);
      const values = new Float32Array(4 * size).map((_, i) =>
        i % size === 0 ? -8 * 0.25 : 0.25 * (rng.integer(16) - 8),
      );
      expect(dequantizeMatrix(quantizeMatrix(values, size))).toEqual(values);
    },
  );

  test('holds a block of zeros', () => {
    const { packed, scales } = quantizeMatrix(rowOf(), 16);
    expect([...scales]).toEqual([0]);
    expect(new Set(packed)).toEqual(new Set([0x88]));
  });

  test('never leaves more than the largest weight at its eighth step does', () => {
    // Below that, a scale is no longer a normal float32.
    const value = double({ min: -1e3, max: 1e3, noNaN: true }).map((v) =>
      Math.abs(v) < 1e-30 ? 0 : v,
    );
    const numbers = array(value, { minLength: 32, maxLength: 32 });
    assert(
      property(numbers, (of) => {
        const values = Float32Array.from(of);
        const back = dequantizeMatrix(quantizeMatrix(values, 32));
        const largest = values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
        const scale = largest / -8 || 1;
        const plain = values.map((v) => scale * Math.min(7, Math.max(-8, Math.round(v / scale))));
        const error = (other: Float32Array): number =>
          values.reduce((sum, v, i) => sum + (v - other[i]!) ** 2, 0);
        expect(error(back)).toBeLessThanOrEqual(error(plain) * 1.001 + 1e-6 * largest ** 2);
      }),
    );
  });

  test('leaves 9.0 % of normal weights in blocks of 64', () => {
    const rng = new KeyedRng(2);
    const values = new Float32Array(64 * 512).map(() => 0.02 * rng.normal());
    expect(relativeError(values, 64)).toBeCloseTo(0.0905, 3);
    // What the largest magnitude over 7 leaves, worked out apart.
    const naive = values.map((value, i) => {
      const block = values.subarray(i - (i % 64), i - (i % 64) + 64);
      const scale = Math.max(...block.map(Math.abs)) / 7;
      return value - scale * Math.round(value / scale);
    });
    const power = (of: Float32Array): number => of.reduce((sum, value) => sum + value * value, 0);
    expect(Math.sqrt(power(naive) / power(values))).toBeGreaterThan(0.105);
  });
});

describe('quantizeWeights', () => {
  const floats = initialParameters(tinyModelConfig, new KeyedRng(1));
  const read = ({ name }: { name: string }) => floats.get(name)!;

  test('makes the tensors that the quantised configuration names, linear layers alone as bytes', async () => {
    const quantization = { bits: 4, blockSize: 16 } as const;
    const weights = await quantizeWeights(tinyModelConfig, { quantization, read });
    const config = { ...tinyModelConfig, quantization };
    const specs = parameterSpecs(config);
    expect([...weights.keys()]).toEqual(specs.map(({ name }) => name));
    for (const { name, shape, dtype } of specs) {
      expect(weights.get(name)).toHaveLength(shape.reduce((a, b) => a * b, 1));
      expect(weights.get(name)).toBeInstanceOf(dtype === 'uint8' ? Uint8Array : Float32Array);
    }
    const bytes = specs.filter(({ dtype }) => dtype === 'uint8').map(({ name }) => name);
    expect(bytes).toHaveLength(7 * tinyModelConfig.layers);
    expect(specs.find(({ name }) => name.endsWith('0.mlp.down_proj.weight'))!.shape).toEqual([
      16, 2, 8,
    ]);
    expect(weights.get('model.embed_tokens.weight')).toBe(floats.get('model.embed_tokens.weight'));
    expect(parameterCount(config)).toBe(parameterCount(tinyModelConfig));
    const name = 'model.layers.1.self_attn.k_proj.weight';
    const off = dequantizedTensor(weights, name)!.map((v, i) =>
      Math.abs(v - floats.get(name)![i]!),
    );
    expect(Math.max(...off)).toBeLessThan(0.02);
    expect(Math.max(...off)).toBeGreaterThan(0);
  });

  test('names the layers whose inputs are not a multiple of the block size', async () => {
    const blocks = (blockSize: number) =>
      quantizeWeights(tinyModelConfig, { quantization: { bits: 4, blockSize }, read });
    await expect(blocks(32)).rejects.toMatchObject(
      errorOf('MODEL_INVALID', /self_attn\.q_proj \[32, 16\] has 16 inputs(.|\n)*mlp\.up_proj/),
    );
    await expect(blocks(24)).rejects.toThrow('a power of two from 16, got 24');
  });

  test('refuses a model that is quantised already', async () => {
    const quantization = { bits: 4, blockSize: 16 } as const;
    const again = quantizeWeights({ ...tinyModelConfig, quantization }, { quantization, read });
    await expect(again).rejects.toThrow('quantised already');
  });
});
