import { expect, test } from '@jest/globals';

import { KeyedRng } from '../../../../agent_rl/core/keyed-rng.ts';
import { initialParameters, parameterSpecs } from '../../../../model/parameters.ts';
import { copyingParameters } from '../../../../scripts/starter-model/copying-weights.ts';
import { searchStarterConfig } from '../../../../scripts/starter-model/starter-model-config.ts';

const config = { ...searchStarterConfig, vocabSize: 32 };
const { hiddenSize: width, heads, kvHeads, headDim } = config;
const parameters = copyingParameters(config, new KeyedRng('test'));
const tensor = (name: string): Float32Array => parameters.get(name) ?? new Float32Array();

test('has every tensor of an ordinary model, in its shape', () => {
  const sizes = (all: ReadonlyMap<string, Float32Array>) =>
    Object.fromEntries([...all].map(([name, values]) => [name, values.length]));
  expect(sizes(parameters)).toEqual(sizes(initialParameters(config, new KeyedRng('test'))));
  expect(parameters.size).toBe(parameterSpecs(config).length);
});

test('what a head reads and what it writes are the same direction', () => {
  const values = tensor('model.layers.1.self_attn.v_proj.weight');
  const output = tensor('model.layers.1.self_attn.o_proj.weight');
  const read = Float32Array.from({ length: width }, (_, i) => Math.sin(i + 1));
  const written = new Float32Array(width);
  for (let head = 0; head < heads; head++) {
    const first = Math.floor((head * kvHeads) / heads) * headDim;
    for (let k = 0; k < headDim; k++) {
      const row = (first + k) * width;
      const value = read.reduce((sum, x, i) => sum + x * (values[row + i] ?? 0), 0);
      const column = head * headDim + k;
      for (let i = 0; i < width; i++) {
        written[i] = (written[i] ?? 0) + value * (output[i * heads * headDim + column] ?? 0);
      }
    }
  }
  const dot = (a: Float32Array, b: Float32Array): number =>
    a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
  const cosine = dot(read, written) / Math.sqrt(dot(read, read) * dot(written, written));
  // Half of all directions are read; a random map would give about 0.
  expect(cosine).toBeGreaterThan(0.5);
});

test('follows from the stream it is drawn from', () => {
  const first = (name: string): number[] =>
    [
      ...(copyingParameters(config, new KeyedRng(name)).get(
        'model.layers.0.self_attn.v_proj.weight',
      ) ?? []),
    ].slice(0, 8);
  expect(first('test')).toEqual([...tensor('model.layers.0.self_attn.v_proj.weight')].slice(0, 8));
  expect(first('other')).not.toEqual(first('test'));
});
