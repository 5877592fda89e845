import type { SentSequence } from './learned-parts.ts';

/** A token whose probability has changed by this factor is in the tail. */
const tailFactor = 2;

/**
 * Share of the tokens sent whose probability before the last pass is more than twice, or less than half, what it is
 * compared with, each weighed as in the loss. `undefined` when nothing was sent.
 */
export function ratioTail(sent: Iterable<SentSequence>): number | undefined {
  let [weight, tail] = [0, 0];
  for (const { datum, lastLogProbs } of sent) {
    for (const [place, one] of datum.weights.entries()) {
      if (one === 0) continue;
      weight += one;
      const logRatio =
        (lastLogProbs[place] ?? Number.NaN) - (datum.oldLogProbs[place] ?? Number.NaN);
      if (!(Math.abs(logRatio) <= Math.log(tailFactor))) tail += one;
    }
  }
  return weight === 0 ? undefined : tail / weight;
}
