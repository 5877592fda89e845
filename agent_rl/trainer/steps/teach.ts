import { mean } from '../../algorithms/statistics.ts';
import type { TopScores } from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import { type TracedDatum, withData } from '../build-data.ts';
import type { AlgorithmOptions } from '../training-options.ts';
import { hintPlace, inserted } from './hint.ts';

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
 *
 * A datum with a hint is judged as if the hint had followed the question, which the policy did not see: with the policy as
 * its own teacher, self-distillation, Hübotter et al. 2026, the objective L_SDPO, https://arxiv.org/abs/2601.20802. Departure: the teacher
 * has the policy's weights before the update and not their moving average.
 */
export async function taughtBy(
  teacher: Scorer,
  updates: readonly (readonly TracedDatum[])[],
  { weight, topK }: NonNullable<AlgorithmOptions['distill']>,
  { temperature, signal }: { temperature: number; signal: AbortSignal },
): Promise<Taught> {
  const data = updates.flat().map(withHint);
  const scored = await scoresOf(teacher, data, { temperature, topK, signal });
  const gaps: number[] = [];
  const taught = withData(updates, (datum, index) => {
    const { logProbs, top } = withoutHint(scored[index]!, data[index]!);
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

interface Judged {
  tokens: Int32Array;
  wanted: ArrayLike<number>;
  /** Where the hint begins, and its tokens. */
  at: number;
  hint: number;
}

function withHint({
  datum: { tokens, weights: wanted },
  sequence,
  hint = [],
}: TracedDatum): Judged {
  const at = hintPlace(sequence) ?? 0;
  if (hint.length === 0) return { tokens, wanted, at, hint: 0 };
  const unwanted = new Uint8Array(hint.length);
  return {
    tokens: Int32Array.from(inserted(tokens, at, hint)),
    wanted: inserted(wanted, at, unwanted),
    at,
    hint: hint.length,
  };
}

/** The scores of the tokens that the policy has, too. */
function withoutHint(
  { logProbs, top }: Pick<TopScores, 'logProbs'> & { top: TopScores['top'] | undefined },
  { at, hint }: Judged,
) {
  const { topK = 0, ids, logProbs: listed } = top ?? {};
  const own = (each: number) => (_: number, place: number) =>
    place < each * at || place >= each * (at + hint);
  return {
    logProbs: logProbs.filter(own(1)),
    top: ids && listed && { topK, ids: ids.filter(own(topK)), logProbs: listed.filter(own(topK)) },
  };
}

async function scoresOf(
  teacher: Scorer,
  data: readonly Judged[],
  { temperature, topK, signal }: { temperature: number; topK: number; signal: AbortSignal },
) {
  const tokens = data.map((one) => one.tokens);
  const options = { temperature, wanted: data.map(({ wanted }) => wanted) };
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
