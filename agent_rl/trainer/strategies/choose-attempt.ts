import { mean } from '../../algorithms/statistics.ts';
import { largest } from '../../core/long-lists.ts';
import { learnersIn, type Rollout } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';

/** Rates attempts by the mean log-probability of what the policy sampled in them. */
export const byLogProbability = 'log-probability';

/** How one of several attempts at a task is chosen, without seeing the expected answer. */
export type Strategy =
  | {
      name: 'best-of-n';
      /** `log-probability`, or the name of a blind reward. */
      selector: string;
    }
  | { name: 'majority' };

type Attempt = Pick<Rollout, 'parts'>;

/** The chosen attempt. */
export interface Chosen {
  index: number;
  /** No attempt answered, or the reward does not apply: only the log-probability chose. */
  undecided: boolean;
}

/**
 * The attempt that a strategy chooses. Majority takes an attempt with the most frequent answer, best-of-n the one rated
 * highest. The mean log-probability breaks ties, then the order. An attempt without an answer has no vote; one to which
 * the reward does not apply comes last.
 *
 * @param attempts one or more, each with a verdict
 */
export function chooseAttempt(attempts: readonly Attempt[], strategy: Strategy): Chosen {
  const ratings = strategy.name === 'majority' ? votes(attempts) : scores(attempts, strategy);
  const rated = ratings.filter((rating) => rating !== undefined);
  const highest = largest(rated);
  const likelihoods = attempts.map(meanLogProb);
  let chosen: number | undefined;
  for (const [index, rating] of ratings.entries()) {
    if (rated.length > 0 && rating !== highest) continue;
    if (chosen === undefined || (likelihoods[index] ?? 0) > (likelihoods[chosen] ?? 0))
      chosen = index;
  }
  if (chosen === undefined) throw new RangeError('There is no attempt to choose from.');
  return { index: chosen, undecided: rated.length === 0 };
}

/** Mean log-probability of the tokens that its learners sampled, in nats and as they were drawn; 0 without one. */
export function meanLogProb({ parts }: Attempt): number {
  const sampled = learnersIn(parts).flatMap(({ sequences }) =>
    drawnSpans(sequences).flatMap((spans, index) =>
      spans.flatMap(({ start, end }) => sequences[index]?.logProbs.slice(start, end) ?? []),
    ),
  );
  return sampled.length === 0 ? 0 : mean(sampled);
}

/** How many attempts gave the same answer as each. */
function votes(attempts: readonly Attempt[]): (number | undefined)[] {
  const answers = attempts.map(({ parts }) => parts[0]?.answer);
  const counts = new Map<string, number>();
  for (const answer of answers)
    if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return answers.map((answer) => (answer === undefined ? undefined : counts.get(answer)));
}

function scores(attempts: readonly Attempt[], { selector }: { selector: string }) {
  if (selector === byLogProbability) return attempts.map(meanLogProb);
  return attempts.map(({ parts }) => {
    const given = learnersIn(parts).flatMap(
      ({ unpaid, scores: paid }) => unpaid?.[selector] ?? paid[selector] ?? [],
    );
    return given.length === 0 ? undefined : mean(given);
  });
}
