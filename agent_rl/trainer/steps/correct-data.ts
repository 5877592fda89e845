import { AgentRlError } from '../../core/errors.ts';
import type { Learner } from '../../core/services/learner.ts';
import { showValue } from '../../core/show-value.ts';
import { type TracedDatum, withData } from '../build-data.ts';
import type { AlgorithmParts } from '../training-options.ts';

/** Data with ratios relative to the weights before the update, and metrics of the correction. */
export interface CorrectedData {
  updates: readonly (readonly TracedDatum[])[];
  /** Mean factor of trained tokens. */
  factorMean: number;
  /** Share of tokens with a factor of 0. */
  maskedShare: number;
}

/**
 * Scores the data with the weights before the update. These log-probabilities replace the sampling policy's, and each
 * advantage is multiplied by its token's correction factor. The rollouts keep the sampling log-probabilities.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` for invalid factors
 */
export async function correctData(
  learner: Learner,
  updates: readonly (readonly TracedDatum[])[],
  {
    correction,
    temperature,
  }: { correction: NonNullable<AlgorithmParts['correction']>; temperature: number },
): Promise<CorrectedData> {
  const data = updates.flat();
  const tokens = data.map(({ datum }) => datum.tokens);
  const wanted = data.map(({ datum }) => datum.weights);
  const scored = await learner.forward(tokens, { temperature, which: 'policy', wanted });
  let [count, total, masked] = [0, 0, 0];
  const corrected = withData(updates, (datum, index) => {
    const proximal = scored[index];
    if (proximal === undefined)
      throw new Error(`The learner scored ${scored.length} of ${data.length} sequences.`);
    const places = [...datum.weights.keys()].filter((place) => datum.weights[place] !== 0);
    const factors = correction.of({
      behaviour: Float32Array.from(places, (place) => datum.oldLogProbs[place] ?? Number.NaN),
      proximal: Float32Array.from(places, (place) => proximal[place] ?? Number.NaN),
    });
    requireFactors(correction.name, factors, places.length);
    const advantages = Float32Array.from(datum.advantages);
    for (const [i, place] of places.entries()) {
      const factor = factors[i] ?? Number.NaN;
      advantages[place] = (advantages[place] ?? 0) * factor;
      total += factor;
      masked += Number(factor === 0);
    }
    count += places.length;
    return { ...datum, oldLogProbs: proximal, advantages };
  });
  return {
    updates: corrected,
    factorMean: total / count,
    maskedShare: masked / count,
  };
}

function requireFactors(name: string, factors: ArrayLike<number>, count: number): void {
  const all = Array.from(factors);
  const wrong = all.find((factor) => !(Number.isFinite(factor) && factor >= 0));
  if (all.length === count && wrong === undefined) return;
  const got = all.length === count ? showValue(wrong) : `${all.length} factors`;
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `The correction "${name}" returned ${got} for ${count} tokens; allowed: a finite number of at least 0 for each.`,
  );
}
