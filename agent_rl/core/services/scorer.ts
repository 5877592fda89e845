import type { ForwardOptions, Learner, ListingLearner, TopScores } from './learner.ts';

/** As a learner's `ForwardOptions`, of the weights that a scorer has. */
export type ScoreOptions = Omit<ForwardOptions, 'which'>;

/** Log-probabilities of given tokens under weights that do not change, such as the reference of a KL term or a teacher. */
export interface Scorer {
  /**
   * For each sequence the log-probability of each token given the tokens before it, in nats: 0 where it is not
   * requested, and for the first token.
   */
  score(
    tokens: readonly Int32Array[],
    options: ScoreOptions,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** The same with the likeliest tokens in each place. Absent where it cannot say which they are. */
  scoreTop?(
    tokens: readonly Int32Array[],
    options: ScoreOptions & { readonly topK: number },
    signal?: AbortSignal,
  ): Promise<readonly TopScores[]>;
}

/** Of a sequence of which nothing is requested. */
export function noScores(length: number, topK: number): TopScores {
  const size = length * topK;
  const top = { topK, ids: new Int32Array(size), logProbs: new Float32Array(size) };
  return { logProbs: new Float32Array(length), top };
}

type Forwards = Pick<Learner, 'forward'> & Partial<Pick<ListingLearner, 'forwardTop'>>;

/** The frozen reference that a learner keeps beside the trained weights. */
export const referenceOf = (learner: Forwards): Scorer => scoring(learner, { which: 'reference' });

/** Weights that a learner published, which it keeps while it learns on (`async.lag`). */
export const publishedOf = (learner: Forwards, version: number): Scorer =>
  scoring(learner, { which: 'published', version });

/** The weights of a learner that never takes a step. */
export const scorerOf = (learner: Forwards): Scorer => scoring(learner, { which: 'policy' });

const scoring = (
  learner: Forwards,
  weights: Pick<ForwardOptions, 'which' | 'version'>,
): Scorer => ({
  score: (tokens, options) => learner.forward(tokens, { ...options, ...weights }),
  ...(learner.forwardTop && {
    scoreTop: (tokens, options) => learner.forwardTop!(tokens, { ...options, ...weights }),
  }),
});
