import { mean } from '../../algorithms/statistics.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import { type TracedDatum, withData } from '../build-data.ts';
import type { AlgorithmOptions } from '../training-options.ts';

/** Data with what a teacher thinks of it. */
export interface Taught {
  updates: readonly (readonly TracedDatum[])[];
  /** Mean of log student - log teacher over the sampled tokens, an estimate of KL(student ‖ teacher), nats. */
  kl: number | undefined;
}

/**
 * Lets a teacher judge each token that a policy sampled: with `topK: 0` its advantage grows by
 * `weight (log teacher - log student)`, whose gradient is in expectation that of -KL(student ‖ teacher) at the token. With a
 * `topK` the loss compares the two over the teacher's likeliest tokens instead, see `distillKl`.
 *
 * On-policy distillation, Lu and Thinking Machines 2025, https://thinkingmachines.ai/blog/on-policy-distillation; as a policy
 * gradient MiniLLM, Gu et al. 2024, eq. 2 and 3, https://arxiv.org/abs/2306.08543
 *
 * Departure from MiniLLM: a token answers for its own divergence, not for that of the tokens behind it.
 */
export async function taughtBy(
  teacher: Scorer,
  updates: readonly (readonly TracedDatum[])[],
  { weight, topK }: NonNullable<AlgorithmOptions['distill']>,
  { temperature, signal }: { temperature: number; signal: AbortSignal },
): Promise<Taught> {
  const data = updates.flat();
  const scored = await scoresOf(teacher, data, { temperature, topK, signal });
  const gaps: number[] = [];
  const taught = withData(updates, (datum, index) => {
    const { logProbs, top } = scored[index]!;
    const advantages = Float32Array.from(datum.advantages);
    for (const [place, own] of datum.weights.entries()) {
      if (own === 0) continue;
      const gap = (datum.oldLogProbs[place] ?? Number.NaN) - (logProbs[place] ?? Number.NaN);
      gaps.push(gap);
      if (topK === 0) advantages[place] = (advantages[place] ?? 0) - weight * gap;
    }
    return { ...datum, advantages, teacherTop: top };
  });
  return { updates: taught, kl: gaps.length === 0 ? undefined : mean(gaps) };
}

async function scoresOf(
  teacher: Scorer,
  data: readonly TracedDatum[],
  { temperature, topK, signal }: { temperature: number; topK: number; signal: AbortSignal },
) {
  const tokens = data.map(({ datum }) => datum.tokens);
  const options = { temperature, wanted: data.map(({ datum }) => datum.weights) };
  const scored =
    topK > 0
      ? await teacher.scoreTop!(tokens, { ...options, topK }, signal)
      : (await teacher.score(tokens, options, signal)).map((logProbs) => ({
          logProbs,
          top: undefined,
        }));
  if (scored.length === data.length) return scored;
  throw new Error(`The teacher scored ${scored.length} of ${data.length} sequences.`);
}
