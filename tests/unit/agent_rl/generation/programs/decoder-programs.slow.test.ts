import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { KvCache } from '#agent_rl/generation/cache/kv-cache.ts';
import type { KvShape } from '#agent_rl/generation/cache/kv-rows.ts';
import { leftOfWindow, windowStart } from '#model/decoder/windows.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const rows = 4;
/** Of a small starter: sums over its capacity are split by matrix products. */
const starterShape = { ...tinyModelConfig, heads: 4, kvHeads: 2, headDim: 64, maxPositions: 512 };
const at = 2;

/** Of a row, its tokens from one place on. */
interface Fed {
  tokens: readonly number[];
  from: number;
}

async function feed(
  programs: DecoderPrograms,
  cache: KvCache,
  { tokens, from }: Fed,
  width: number,
): Promise<void> {
  for (let place = from; place < tokens.length;) {
    const count = Math.min(width, tokens.length - place, leftOfWindow(place));
    const positions = new Int32Array(rows).fill(-1);
    positions[at] = place;
    const fed = new Int32Array(rows * width).fill(1);
    fed.set(tokens.slice(place, place + count), at * width);
    const inputs = {
      tokens: fed,
      positions,
      uniforms: new Float32Array(rows * width),
      temperatures: new Float32Array(rows * width).fill(1),
    };
    const { fresh } = await programs.step(inputs, { cache, wholeRows: false });
    cache.write(fresh, positions);
    place += count;
  }
}

/** Keys and values of the first `length` positions of the row that was fed. */
function held(cache: KvCache, length: number): Float32Array[] {
  // One more, so that whole windows are where they are read from.
  cache.load(at, { length: 1, keys: [], values: [] }, length);
  const whole = windowStart(length);
  const layers = Array.from({ length: cache.shape.layers }, (_, layer) => layer);
  return (['keys', 'values'] as const).flatMap((kind) =>
    layers.flatMap((layer) => {
      const past = headsOf(cache.past.view(layer, 1, at)[kind], cache.shape, whole);
      const recent = headsOf(cache.recent.view(layer, 1, at)[kind], cache.shape, length - whole);
      return past.concat(recent);
    }),
  );
}

function headsOf(row: Float32Array, { kvHeads, headDim }: KvShape, length: number) {
  const stride = row.length / kvHeads;
  return Array.from({ length: kvHeads }, (_, head) =>
    row.slice(head * stride, head * stride + length * headDim),
  );
}

describe('DecoderPrograms', () => {
  test('feeds tokens in fours, and in sixteens when the vocabulary is odd', () => {
    const programs = new DecoderPrograms(engine, tinyModelConfig, 64);
    expect([1, 4, 5, 9].map((count) => programs.rowsOf(count, 1))).toEqual([4, 4, 8, 12]);
    expect([1, 5].map((count) => programs.rowsOf(count, 4))).toEqual([1, 5]);
    expect(programs.rowsOf(5, 2)).toBe(6);
    const odd = new DecoderPrograms(engine, { ...tinyModelConfig, vocabSize: 25 }, 64);
    expect([1, 4].map((width) => odd.rowsOf(5, width))).toEqual([16, 8]);
  });

  test.each([
    [10, 40, tinyModelConfig, 128],
    [0, 64, tinyModelConfig, 128],
    [50, 9, tinyModelConfig, 128],
    [300, 21, starterShape, 512],
    [433, 64, starterShape, 512],
  ])(
    'gives, after %i others, %i tokens the same bits by ones, by fours and as a chunk',
    async (before, count, config, capacity) => {
      const parameters = initialParameters(config, new KeyedRng(7));
      const programs = new DecoderPrograms(engine, config, capacity);
      await programs.setWeights(parameters);
      const token = (place: number): number => (place * 7 + 3) % 24;
      const tokens = Array.from({ length: before + count }, (_, place) => token(place));
      const caches = [0, 1, 2].map(() => new KvCache({ ...programs.kvShape, capacity }, rows));
      const [stepped, drafted, chunked] = caches as [KvCache, KvCache, KvCache];
      if (before > 0) {
        const prefix = await programs.prefill(tokens.slice(0, before));
        for (const cache of caches) cache.load(at, prefix);
      }
      await feed(programs, stepped, { tokens, from: before }, 1);
      await feed(programs, drafted, { tokens, from: before }, 4);
      const chunk = await programs.chunk(tokens.slice(before), {
        cache: chunked,
        row: at,
        length: before,
      });
      chunked.load(at, chunk, before);
      const expected = held(stepped, tokens.length);
      for (const cache of [drafted, chunked]) expect(held(cache, tokens.length)).toEqual(expected);
      await programs.dispose();
    },
  );
});
