import type { TrainDatum } from '../core/services/batch.ts';

/** A sequence of whose tokens log-probabilities are computed: of those that are wanted, but for the first, which nothing predicts. */
export function scoredDatum(tokens: Int32Array, wanted?: ArrayLike<number>): TrainDatum {
  const weights = new Float32Array(tokens.length).fill(1, 1);
  if (wanted !== undefined)
    for (let place = 1; place < tokens.length; place++) if (!wanted[place]) weights[place] = 0;
  const zeros = new Float32Array(tokens.length);
  return { tokens, weights, advantages: zeros, oldLogProbs: zeros };
}
