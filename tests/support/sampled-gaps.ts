import { type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import type { Scorer } from '#agent_rl/core/services/scorer.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { request } from './generation-request.ts';

export interface Gap {
  largest: number;
  mean: number;
  tokens: number;
}

interface Sampled {
  /** Each is drawn from once. */
  prompts: readonly (readonly number[])[];
  maxTokens: number;
  seed: number;
  temperature?: number;
}

/** How much the log-probabilities of a generator differ from what a scorer gives its tokens, in nats. */
export async function gapOf(
  generator: Generator,
  scorer: Scorer,
  { prompts, maxTokens, seed, temperature = 1 }: Sampled,
): Promise<Gap> {
  const sampling = { ...unbiased, temperature };
  const made = await Promise.all(
    prompts.map((tokens, sample) => {
      const key = { seed, taskId: 'gap', sample, turn: 0 };
      return generator.generate(request(`gap ${sample}`, { tokens, maxTokens, key, sampling }));
    }),
  );
  const sequences = made.map(({ tokens }, i) => Int32Array.from([...prompts[i]!, ...tokens]));
  const scored = await scorer.score(sequences, { temperature });
  const gaps = made.flatMap(({ logProbs }, i) =>
    logProbs.map((logProb, j) => Math.abs(logProb - scored[i]![prompts[i]!.length + j]!)),
  );
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  return { largest: Math.max(...gaps), mean, tokens: gaps.length };
}

/** The model of a folder in our engine. */
export const localEngine = (modelFolder: string, more: Partial<EngineServiceOptions>) =>
  EngineClient.open({
    modelFolder,
    device: 'cpu',
    threads: 1,
    rows: 1,
    maxContextTokens: 256,
    microBatchTokens: 512,
    seed: 1,
    reference: false,
    ...more,
  });
