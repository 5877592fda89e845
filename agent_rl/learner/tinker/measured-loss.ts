import { findLoss } from '../../algorithms/losses/find-loss.ts';
import { policyLossInNumbers } from '../../algorithms/losses/policy-loss-in-numbers.ts';
import type { TrainDatum } from '../../core/services/batch.ts';
import type { LossSpec } from '../../core/services/learner.ts';

/** A loss on one sequence, from log-probabilities that a service computed. */
export interface MeasuredLoss {
  /** Of each token, with its weight. */
  weighted: readonly number[];
  loss: number;
  sums: Readonly<Record<string, number>>;
}

export type MeasureLoss = (datum: TrainDatum, logProbs: Float32Array) => MeasuredLoss;

/** What our own definition of a loss is worth. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
export async function lossMeasure(spec: LossSpec): Promise<MeasureLoss> {
  if (spec.name === 'cross_entropy')
    return ({ weights }, logProbs) => {
      const weighted = Array.from(weights, (weight, i) =>
        weight === 0 ? 0 : -weight * logProbs[i]!,
      );
      return { weighted, loss: weighted.reduce((sum, value) => sum + value, 0), sums: {} };
    };
  const { loss } = await findLoss(spec);
  return (datum, logProbs) => {
    const { losses, ...rest } = policyLossInNumbers(datum, logProbs, { spec, loss });
    return { ...rest, weighted: losses.map((value, place) => value * datum.weights[place]!) };
  };
}
