import { expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { DecoderPrograms, type Packed } from '#agent_rl/generation/programs/decoder-programs.ts';
import { KvCache } from '#agent_rl/generation/cache/kv-cache.ts';
import type { KvShape } from '#agent_rl/generation/cache/kv-rows.ts';
import { leftOfWindow, windowStart, windowTokens } from '#model/decoder/windows.ts';
import { initialParameters } from '#model/config/parameters.ts';
import {
  type GenerationRequest,
  greedy,
  type Sampling,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import type { StepInputs } from '#agent_rl/generation/programs/step-result.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import * as fc from '#tests/support/properties.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import { peakedOf } from '#tests/support/tiny-generator.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const cacheRows = 4;
/** Of a small starter: sums over its capacity are split by matrix products. */
const starterShape = { ...tinyModelConfig, heads: 4, kvHeads: 2, headDim: 64, maxPositions: 512 };
const fedRow = 2;

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
    const positions = new Int32Array(cacheRows).fill(-1);
    positions[fedRow] = place;
    const fed = Int32Array.from({ length: programs.tokensOf(count) }, (_, i) =>
      i < count ? tokens[place + i]! : 1,
    );
    const taken = fed.map((_, i) => fedRow * width + Math.min(i, count - 1));
    const draws = programs.drawsOf(0);
    const inputs = {
      width,
      tokens: fed,
      taken,
      positions,
      drawnAfter: new Int32Array(draws),
      uniforms: new Float32Array(draws),
      temperatures: new Float32Array(draws).fill(1),
    };
    const { fresh } = await programs.step(inputs, { cache, wholeRows: false });
    cache.write(fresh, positions);
    place += count;
  }
}

/** Keys and values of the first `length` positions of the row that was fed. */
function held(cache: KvCache, length: number): Float32Array[] {
  // One more, so that whole windows are where they are read from.
  cache.load(fedRow, { length: 1, keys: [], values: [] }, length);
  const whole = windowStart(length);
  const layers = Array.from({ length: cache.shape.layers }, (_, layer) => layer);
  return (['keys', 'values'] as const).flatMap((kind) =>
    layers.flatMap((layer) => {
      const past = headsOf(cache.past.view(layer, 1, fedRow)[kind], cache.shape, whole);
      const recent = headsOf(
        cache.recent.view(layer, 1, fedRow)[kind],
        cache.shape,
        length - whole,
      );
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

test('DecoderPrograms feeds tokens in fours, and draws in sixteens when the vocabulary is odd', () => {
  const programs = new DecoderPrograms(engine, tinyModelConfig, 64);
  expect([1, 4, 5, 9].map((count) => programs.tokensOf(count))).toEqual([4, 4, 8, 12]);
  const odd = new DecoderPrograms(engine, { ...tinyModelConfig, vocabSize: 25 }, 64);
  expect(odd.tokensOf(5)).toBe(8);
  expect([0, 1, 17].map((count) => odd.drawsOf(count))).toEqual([16, 16, 32]);
  expect([0, 3, 5].map((count) => programs.drawsOf(count))).toEqual([4, 4, 8]);
});

test.each([
  [10, 40, tinyModelConfig, 128],
  [0, 64, tinyModelConfig, 128],
  [50, 9, tinyModelConfig, 128],
  [300, 21, starterShape, 512],
  [433, 64, starterShape, 512],
])(
  'DecoderPrograms gives, after %i others, %i tokens the same bits by ones, by fours and by windows',
  async (before, count, config, capacity) => {
    const parameters = initialParameters(config, new KeyedRng(7));
    const programs = new DecoderPrograms(engine, config, capacity);
    await programs.setWeights(parameters);
    const token = (place: number): number => (place * 7 + 3) % 24;
    const tokens = Array.from({ length: before + count }, (_, place) => token(place));
    const caches = [0, 1, 2].map(() => new KvCache({ ...programs.kvShape, capacity }, cacheRows));
    const [stepped, drafted, whole] = caches as [KvCache, KvCache, KvCache];
    if (before > 0) {
      const prefix = await programs.prefill(tokens.slice(0, before));
      for (const cache of caches) cache.load(fedRow, prefix);
    }
    await feed(programs, stepped, { tokens, from: before }, 1);
    await feed(programs, drafted, { tokens, from: before }, 4);
    await feed(programs, whole, { tokens, from: before }, windowTokens);
    const expected = held(stepped, tokens.length);
    for (const cache of [drafted, whole]) expect(held(cache, tokens.length)).toEqual(expected);
    await programs.dispose();
  },
);

/** Its steps say how many tokens they computed, and for how many rows. */
class WatchedPrograms extends DecoderPrograms {
  readonly computed: [tokens: number, rows: number][] = [];

  override async step(inputs: StepInputs, options: Parameters<DecoderPrograms['step']>[1]) {
    this.computed.push([inputs.tokens.length, inputs.positions.length]);
    return super.step(inputs, options);
  }
}

const maxContextTokens = 128;

/** Products of more than 128 numbers: packed ones are summed up otherwise there. */
const sizes = { vocabSize: 48, hiddenSize: 144, intermediateSize: 208 };
const wide: ModelConfig = { ...tinyModelConfig, ...sizes };

/** Some guesses are right. */
const weightsOf = ({ adapters, ...base }: ModelConfig) =>
  new Map([
    ...peakedOf(base, { seed: 5, times: 4 }),
    ...(adapters === undefined ? [] : tinyAdapterWeights(base)),
  ]);

async function opened(
  config: ModelConfig,
  { rows = 1, packs }: { rows?: number; packs: Packed | undefined },
) {
  const programs = new WatchedPrograms(engine, config, maxContextTokens, { packs });
  const generator = new LocalGenerator(programs, { rows, maxContextTokens });
  await generator.setWeights(weightsOf(config), 1);
  return { programs, generator };
}

const request = (
  { vocabSize }: ModelConfig,
  { at, length, sampling = unbiased }: { at: number; length: number; sampling?: Sampling },
): GenerationRequest =>
  requestOf(`${at}`, {
    tokens: Array.from({ length }, (_, place) => (at * 7 + place * 3 + 1) % vocabSize),
    maxTokens: 14,
    sampling,
  });

/** What is drawn for each by itself, and for all at once. */
async function bothWays(
  config: ModelConfig,
  requests: readonly GenerationRequest[],
  packs: Packed | undefined = 'all',
) {
  const one = await opened(config, { packs });
  const many = await opened(config, { packs, rows: requests.length });
  const alone = [];
  for (const each of requests) {
    alone.push(await one.generator.generate(each));
    one.generator.release(each.episode);
  }
  const together = await Promise.all(requests.map((each) => many.generator.generate(each)));
  await Promise.all([one.programs.dispose(), many.programs.dispose()]);
  return { alone, together, computed: one.programs.computed };
}

test('a generator with packed weights draws a row alone as in a batch, bit for bit, and computes one row for it', async () => {
  const samplings = [unbiased, greedy, { ...unbiased, topK: 5 }, { ...unbiased, temperature: 2 }];
  const requests = [1, 2, 5, 9, 30, 70].map((length, at) =>
    request(wide, { at, length, sampling: samplings[at % samplings.length]! }),
  );
  const { alone, together, computed } = await bothWays(wide, requests);
  expect(together).toEqual(alone);
  expect(computed).toContainEqual([1, 1]);
  expect(computed.every(([, rows]) => rows === 1)).toBe(true);
});

test('a generator with packed weights draws the same for models of all shapes', async () => {
  const shape = fc.record({
    hiddenSize: fc.integer({ min: 2, max: 26 }).map((eighths) => 8 * eighths),
    heads: fc.constantFrom([2, 1], [4, 2], [4, 1], [9, 3]),
    headDim: fc.constantFrom(8, 16, 24, 48),
    intermediateSize: fc.integer({ min: 1, max: 20 }).map((sixteenths) => 16 * sixteenths),
    vocabSize: fc.integer({ min: 1, max: 40 }).map((sixteenths) => 16 * sixteenths),
    tiedEmbeddings: fc.boolean(),
    qkNorm: fc.boolean(),
    qkvBias: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ heads: [heads, kvHeads], ...rest }) => {
      const config = { ...tinyModelConfig, ...rest, heads, kvHeads };
      const requests = [3, 8, 25].map((length, at) => request(config, { at, length }));
      const { alone, together, computed } = await bothWays(config, requests);
      expect(together).toEqual(alone);
      expect(computed).toContainEqual([1, 1]);
    }),
    { numRuns: 8 },
  );
}, 120_000);

test.each([2, 40, 700])('packed weights score as the learner does after %i', async (length) => {
  const config = { ...wide, maxPositions: 1024, adapters: [tinyAdapter] };
  const weights = new Map([...weightsOf(wide), ...tinyAdapterWeights(wide)]);
  const programs = new DecoderPrograms(engine, config, 1024, { packs: 'all' });
  const generator = new LocalGenerator(programs, { rows: 1, maxContextTokens: 1024 });
  await generator.setWeights(weights, 1);
  const learner = new LocalLearner(engine, config, weights, {
    microBatchTokens: 1024,
    adapter: { baseModel: 'none', seed: 1 },
  });
  const one = request(wide, { at: 2, length });
  const { tokens, logProbs } = await generator.generate(one);
  const whole = Int32Array.from([...one.tokens, ...tokens]);
  const [scored] = await learner.forward([whole], { temperature: 1, which: 'policy' });
  for (const [i, logProb] of logProbs.entries())
    expect(scored?.[length + i]).toBeCloseTo(logProb, 4);
  await Promise.all([learner.close(), programs.dispose()]);
});

test('a generator with packed weights computes several tokens when numbers would remain or an adapter is not packed', () => {
  const tokensOf = (config: ModelConfig, options: { packs?: Packed } = { packs: 'all' }): number =>
    new DecoderPrograms(engine, config, maxContextTokens, options).tokensOf(1);
  expect(tokensOf(wide)).toBe(1);
  expect(tokensOf({ ...wide, vocabSize: 41 })).toBe(1);
  expect(tokensOf({ ...wide, intermediateSize: 200 })).toBe(4);
  expect(tokensOf(wide, {})).toBe(4);
  expect(tokensOf(wide, { packs: 'under the adapter' })).toBe(4);
});

test.each(['under the adapter', undefined] as const)(
  'a generator with an adapter and packed weights (%s) draws a row alone as in a batch, bit for bit',
  async (packs) => {
    const config = { ...wide, adapters: [tinyAdapter] };
    const requests = [1, 2, 5, 9, 30, 70].map((length, at) => request(wide, { at, length }));
    const { alone, together } = await bothWays(config, requests, packs);
    expect(together).toEqual(alone);
  },
);
