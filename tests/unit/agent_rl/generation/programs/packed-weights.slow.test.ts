import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import {
  type GenerationRequest,
  greedy,
  type Sampling,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import type { StepInputs } from '#agent_rl/generation/programs/step-result.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import * as fc from '#tests/support/properties.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

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
const wide: ModelConfig = {
  ...tinyModelConfig,
  vocabSize: 48,
  hiddenSize: 144,
  intermediateSize: 208,
};

/** Large, so that distributions are peaked and some guesses are right. */
const weightsOf = (config: ModelConfig) =>
  new Map(
    [...initialParameters(config, new KeyedRng(5))].map(([name, values]) => [
      name,
      values[0] === 1 ? values : values.map((value) => 4 * value),
    ]),
  );

async function opened(config: ModelConfig, { rows = 1, packs = true } = {}) {
  const programs = new WatchedPrograms(engine, config, maxContextTokens, { packs });
  const generator = new LocalGenerator(programs, { rows, maxContextTokens });
  await generator.setWeights(weightsOf(config), 1);
  return { programs, generator };
}

const request = (
  { vocabSize }: ModelConfig,
  { at, length, sampling = unbiased }: { at: number; length: number; sampling?: Sampling },
): GenerationRequest => ({
  episode: `${at}`,
  key: { seed: 3, taskId: `${at}`, sample: 0, turn: 0 },
  tokens: Array.from({ length }, (_, place) => (at * 7 + place * 3 + 1) % vocabSize),
  maxTokens: 14,
  stopTokens: [],
  sampling,
});

/** What is drawn for each by itself, and for all at once. */
async function bothWays(config: ModelConfig, requests: readonly GenerationRequest[]) {
  const [one, many] = [await opened(config), await opened(config, { rows: requests.length })];
  const alone = [];
  for (const each of requests) {
    alone.push(await one.generator.generate(each));
    one.generator.release(each.episode);
  }
  const together = await Promise.all(requests.map((each) => many.generator.generate(each)));
  await Promise.all([one.programs.dispose(), many.programs.dispose()]);
  return { alone, together, computed: one.programs.computed };
}

describe('A generator with packed weights', () => {
  test('draws a row alone as in a batch, bit for bit, and computes one row for it', async () => {
    const samplings = [unbiased, greedy, { ...unbiased, topK: 5 }, { ...unbiased, temperature: 2 }];
    const requests = [1, 2, 5, 9, 30, 70].map((length, at) =>
      request(wide, { at, length, sampling: samplings[at % samplings.length]! }),
    );
    const { alone, together, computed } = await bothWays(wide, requests);
    expect(together).toEqual(alone);
    expect(computed).toContainEqual([1, 1]);
    expect(computed.every(([, rows]) => rows === 1)).toBe(true);
  });

  test('draws the same for models of all shapes', async () => {
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

  test.each([2, 40, 700])(
    'returns the log-probabilities that the learner computes after prompts of %i tokens',
    async (length) => {
      const config = { ...wide, maxPositions: 1024, adapters: [tinyAdapter] };
      const weights = new Map([...weightsOf(wide), ...tinyAdapterWeights(wide)]);
      const programs = new DecoderPrograms(engine, config, 1024, { packs: true });
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
    },
  );

  test('computes several tokens of a row when numbers would remain or a head has no other', async () => {
    const tokensOf = async (config: ModelConfig, packs = true): Promise<number> => {
      const { programs } = await opened(config, { packs });
      return programs.widths(1).least;
    };
    expect(await tokensOf(wide)).toBe(1);
    expect(await tokensOf({ ...wide, vocabSize: 40 })).toBe(4);
    expect(await tokensOf({ ...wide, intermediateSize: 200 })).toBe(4);
    expect(await tokensOf({ ...wide, kvHeads: wide.heads })).toBe(4);
    expect(await tokensOf(wide, false)).toBe(4);
  });
});
