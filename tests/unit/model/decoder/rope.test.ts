import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { readModelConfig } from '#model/config/model-config.ts';
import { inverseFrequencies, ropeTables } from '#model/decoder/rope.ts';
import { leftOfWindow, windowPlaces, windowsOf, windowStart } from '#model/decoder/windows.ts';
import { miniMind3Vectors } from '#tests/support/minimind3.ts';

test('the inverse frequencies of MiniMind-3 are as published', () => {
  const { dim, theta, inv_freq: expected } = miniMind3Vectors().rope;
  const frequencies = inverseFrequencies(dim, theta);
  expect(frequencies).toHaveLength(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs((frequencies[i] ?? NaN) - value)).toBeLessThan(1e-6);
});

interface TransformersRope {
  /** A config.json from before transformers 5. */
  old: unknown;
  /** The same as transformers 5 writes it. */
  new: unknown;
  inverse_frequencies: readonly number[];
  attention_factor: number;
  /** [positions, width] */
  cos: readonly number[];
  sin: readonly number[];
}

const { positions, cases } = JSON.parse(
  readFileSync(new URL('../../../fixtures/rope/rope.json', import.meta.url), 'utf8'),
) as {
  positions: readonly number[];
  cases: Readonly<Record<string, TransformersRope>>;
};

describe.each(Object.entries(cases))('The scaling %s', (_, expected) => {
  test.each(['old', 'new'] as const)('is as in transformers with the %s config.json', (age) => {
    const config = readModelConfig(expected[age]);
    const frequencies = inverseFrequencies(config.headDim, config.ropeTheta, config.ropeScaling);
    expect(frequencies).toHaveLength(expected.inverse_frequencies.length);
    for (const [i, value] of expected.inverse_frequencies.entries())
      expect(Math.abs(frequencies[i]! / value - 1)).toBeLessThan(1e-6);
    const tables = ropeTables(config, positions);
    for (const kind of ['cos', 'sin'] as const) {
      expect(tables[kind]).toHaveLength(expected[kind].length);
      const furthest = expected[kind].map((value, i) => Math.abs(tables[kind][i]! - value));
      // Float32 angles of up to 100 radians are 4e-6 apart.
      expect(Math.max(...furthest)).toBeLessThan(2e-5);
    }
    expect(tables.cos[0]).toBe(Math.fround(expected.attention_factor));
  });
});

test("MiniMind's scaling divides frequencies along a ramp by 16", () => {
  const sizes = { vocab_size: 8, hidden_size: 96, intermediate_size: 8, num_hidden_layers: 1 };
  const asked = { num_attention_heads: 1, inference_rope_scaling: true };
  const json = { model_type: 'minimind', ...sizes, ...asked };
  const { headDim, ropeTheta, ropeScaling } = readModelConfig(json);
  const scaled = inverseFrequencies(headDim, ropeTheta, ropeScaling);
  const plain = inverseFrequencies(96, 1e6);
  // 96 ln(2048 / (2 pi turns)) / (2 ln 1e6) is 8.06 for 32 turns and 20.1 for one: the ramp goes from 8 to 21.
  const part = (pair: number): number => scaled[pair]! / plain[pair]!;
  expect(part(8)).toBeCloseTo(1, 12);
  expect(part(14)).toBeCloseTo(1 - 6 / 13 + 6 / 13 / 16, 12);
  expect(part(21)).toBeCloseTo(1 / 16, 12);
  expect(part(47)).toBeCloseTo(1 / 16, 12);
});

test('the window of a position begins at a multiple of 16', () => {
  const { starts, offsets } = windowsOf([0, 15, 70]);
  expect([...starts]).toEqual([0, 0, 64]);
  expect([...offsets]).toEqual([0, 15, 6]);
  expect([0, 15, 16].map(windowStart)).toEqual([0, 0, 16]);
  expect([0, 15, 16].map(leftOfWindow)).toEqual([16, 1, 16]);
});

test('a window is read from the cache up to the position of its row, and from the fed tokens after it', () => {
  const places = windowPlaces([3, 94], { kvHeads: 2, count: 4 });
  expect(places).toHaveLength(2 * 2 * 16);
  // 16 places that are held and 4 tokens are an entry of 20.
  expect([...places.subarray(0, 8)]).toEqual([0, 1, 2, 16, 17, 18, 19, 7]);
  expect([...places.subarray(16, 24)]).toEqual([20, 21, 22, 36, 37, 38, 39, 27]);
  // The second row's first token has place 14, and its third is beyond the window.
  expect([...places.subarray(32 + 13, 32 + 16)]).toEqual([40 + 13, 40 + 16, 40 + 17]);
});
