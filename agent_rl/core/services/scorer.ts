import type { ForwardOptions, Learner } from './learner.ts';

/** Log-probabilities of given tokens under weights that do not change, such as the reference of a KL term. */
export interface Scorer {
  /**
   * For each sequence the log-probability of each token given the tokens before it, in nats: 0 where it is not
   * requested, and for the first token.
   */
  score(
    tokens: readonly Int32Array[],
    options: Omit<ForwardOptions, 'which'>,
  ): Promise<readonly Float32Array[]>;
}

/** The frozen reference that a learner keeps beside the trained weights. */
export const referenceOf = (learner: Pick<Learner, 'forward'>): Scorer => ({
  score: (tokens, options) => learner.forward(tokens, { ...options, which: 'reference' }),
});

/** Weights that a learner published, which it keeps while it learns on (`async.lag`). */
export const publishedOf = (learner: Pick<Learner, 'forward'>, version: number): Scorer => ({
  score: (tokens, options) => learner.forward(tokens, { ...options, which: 'published', version }),
});

/** The weights of a learner that never takes a step. */
export const scorerOf = (learner: Pick<Learner, 'forward'>): Scorer => ({
  score: (tokens, options) => learner.forward(tokens, { ...options, which: 'policy' }),
});
