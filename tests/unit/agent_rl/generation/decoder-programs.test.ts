import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { DecoderPrograms } from '#agent_rl/generation/decoder-programs.ts';
import { KvCache } from '#agent_rl/generation/kv-cache.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

let engine: OnnxEngine;
beforeAll(() => {
  engine = new OnnxEngine({ device: 'cpu', threads: 1 });
});
afterAll(() => engine.close());

const rows = 4;
/** Of a small starter: sums over its capacity are split by matrix products. */
const starterShape = { ...tinyModelConfig, heads: 4, kvHeads: 2, headDim: 64, maxPositions: 512 };
const at = 2;

describe('DecoderPrograms', () => {
  test.each([
    [10, 40, tinyModelConfig, 128],
    [0, 64, tinyModelConfig, 128],
    [50, 9, tinyModelConfig, 128],
    [300, 21, starterShape, 512],
    [433, 64, starterShape, 512],
  ])(
    'a chunk of tokens after %i others has the bits of feeding its %i tokens one by one',
    async (before, count, config, capacity) => {
      const parameters = initialParameters(config, new KeyedRng(7));
      const programs = new DecoderPrograms(engine, config, capacity);
      await programs.setWeights(parameters);
      const token = (place: number): number => (place * 7 + 3) % 24;
      const tokens = Array.from({ length: before + count }, (_, place) => token(place));
      const caches = [0, 1].map(() => new KvCache({ ...programs.kvShape, capacity }, rows));
      const [stepped, chunked] = caches as [KvCache, KvCache];
      if (before > 0) {
        const prefix = await programs.prefill(tokens.slice(0, before));
        for (const cache of caches) cache.load(at, prefix);
      }
      for (let place = before; place < tokens.length; place++) {
        const positions = new Int32Array(rows).fill(-1);
        positions[at] = place;
        const mask = new Float32Array(rows * (capacity + 1)).fill(-1e9);
        mask.fill(0, at * (capacity + 1), at * (capacity + 1) + place);
        mask[(at + 1) * (capacity + 1) - 1] = 0;
        const inputs = {
          tokens: new Int32Array(rows).fill(tokens[place] ?? 0),
          positions,
          uniforms: new Float32Array(rows),
          temperatures: new Float32Array(rows).fill(1),
          mask,
        };
        const { fresh } = await programs.step(inputs, { cache: stepped, rows, wholeRows: false });
        for (const [layer, entries] of fresh.entries()) stepped.write(layer, entries, positions);
      }
      const chunk = await programs.chunk(tokens.slice(before), {
        cache: chunked,
        row: at,
        length: before,
      });
      chunked.load(at, chunk, before);
      for (const layer of stepped.keys.keys()) {
        const [a, b] = [stepped.row(layer, at), chunked.row(layer, at)];
        expect(b.keys).toEqual(a.keys);
        expect(b.values).toEqual(a.values);
      }
      await programs.dispose();
    },
  );
});
