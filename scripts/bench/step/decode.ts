import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { unbiased } from '../../../agent_rl/core/services/generator.ts';
import type { Engine } from '../../../agent_rl/engine/engine.ts';
import {
  DecoderPrograms,
  type Packed,
} from '../../../agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '../../../agent_rl/generation/local-generator.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { initialParameters, type Weights } from '../../../model/config/parameters.ts';
import { secondsOf } from '../statistics.ts';

export interface DecodeRate {
  batch: number;
  tokensPerSecond: number;
  msPerStep: number;
  /** The share of wall time spent outside the runtime: drawing, cache writes, scheduling. */
  outsideShare: number;
}

/**
 * Tokens per second of continuous batching, each batch full from the first to the last token: per batch size, the
 * median by speed of `repeats` measurements.
 */
export async function measureDecode(
  engine: Engine,
  config: ModelConfig,
  options: {
    batches: number[];
    promptTokens: number;
    newTokens: number;
    repeats: number;
    /** Fresh ones by default. */
    parameters?: Weights;
    /** Whether programs hold the weights. */
    packs?: Packed | undefined;
  },
): Promise<DecodeRate[]> {
  const { batches, promptTokens, newTokens, repeats, packs } = options;
  const context = promptTokens + newTokens + 1;
  const programs = new DecoderPrograms(engine, config, context, { packs });
  const rates: DecodeRate[] = [];
  const prompt = Array.from({ length: promptTokens }, (_, i) => (7 * i + 1) % config.vocabSize);
  const { parameters = initialParameters(config, new KeyedRng(1, 'bench')) } = options;
  for (const batch of batches) {
    const generator = new LocalGenerator(programs, { rows: batch, maxContextTokens: context });
    await generator.setWeights(parameters, 0);
    // Other draws each time: what was drawn before would be guessed.
    let seed = 0;
    const measure = (maxTokens: number): Promise<DecodeRate> =>
      decodeOnce(generator, { batch, prompt, maxTokens, seed: (seed += 1) });
    await measure(newTokens); // compiles the programs, computes the prompt and lets Node.js compile too
    const tries: DecodeRate[] = [];
    for (let i = 0; i < repeats; i++) tries.push(await measure(newTokens));
    const sorted = tries.toSorted((a, b) => a.tokensPerSecond - b.tokensPerSecond);
    rates.push(sorted[Math.floor(repeats / 2)]!);
  }
  await programs.dispose();
  return rates;
}

async function decodeOnce(
  generator: LocalGenerator,
  {
    batch,
    prompt,
    maxTokens,
    seed,
  }: { batch: number; prompt: readonly number[]; maxTokens: number; seed: number },
): Promise<DecodeRate> {
  const before = generator.totals;
  const seconds = await secondsOf(() =>
    Promise.all(
      Array.from({ length: batch }, (_, sample) =>
        generator.generate({
          episode: `episode ${sample}`,
          tokens: prompt,
          maxTokens,
          stopTokens: [],
          sampling: unbiased,
          key: { seed, taskId: 'bench', sample, turn: 0 },
        }),
      ),
    ),
  );
  const { totals } = generator;
  for (let sample = 0; sample < batch; sample++) generator.release(`episode ${sample}`);
  return {
    batch,
    tokensPerSecond: (totals.sampledTokens - before.sampledTokens) / seconds,
    msPerStep: (1000 * seconds) / (totals.steps - before.steps),
    outsideShare: 1 - (totals.runS - before.runS) / seconds,
  };
}
