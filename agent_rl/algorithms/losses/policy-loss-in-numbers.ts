import type { LossFunction } from '../../core/algorithm/loss.ts';
import type { TrainDatum } from '../../core/services/batch.ts';
import type { PolicyLossSpec } from '../../core/services/learner.ts';
import { type PlainTensor, plainLossOps, plainTensor } from './plain-loss-ops.ts';
import { logRatioBound } from './log-ratio-bound.ts';

/** What a loss is worth on the tokens of one sequence. */
export interface LossInNumbers {
  /** Of each token without its weight; 0 where it is not trained. */
  losses: readonly number[];
  /** Sum over tokens of weight times loss, and the sums of `PolicyLoss`. */
  loss: number;
  sums: Readonly<Record<string, number>>;
}

/**
 * The value of `policyLoss` without its gradient, for what is learned elsewhere. Without a KL term and an entropy bonus.
 *
 * @param logProbs of each token of the datum under the policy being trained, nats
 */
export function policyLossInNumbers(
  { weights, advantages, oldLogProbs }: TrainDatum,
  logProbs: ArrayLike<number>,
  { spec, loss }: { spec: PolicyLossSpec; loss: LossFunction },
): LossInNumbers {
  const places = [...weights.keys()].filter((place) => weights[place] !== 0);
  const of = (values: ArrayLike<number>): number[] => places.map((place) => values[place]!);
  const logRatio = of(logProbs).map((value, i) => value - oldLogProbs[places[i]!]!);
  const ratio = logRatio.map((value) =>
    Math.exp(Math.min(Math.max(value, -logRatioBound), logRatioBound)),
  );
  const { losses, metrics = {} } = loss(
    {
      logProbs: plainTensor(of(logProbs)),
      logRatio: plainTensor(logRatio),
      ratio: plainTensor(ratio),
      advantages: plainTensor(of(advantages)),
      sequenceMean: (values) => {
        const all = (values as PlainTensor).values;
        const mean = all.reduce((sum, value) => sum + value, 0) / Math.max(1, all.length);
        return plainTensor(all.map(() => mean));
      },
    },
    spec.settings,
    plainLossOps,
  );
  const weighted = (values: readonly number[]): number =>
    values.reduce((sum, value, i) => sum + value * weights[places[i]!]!, 0);
  const own = (losses as PlainTensor).values;
  const all = Array.from(weights, () => 0);
  for (const [i, place] of places.entries()) all[place] = own[i]!;
  return {
    losses: all,
    loss: weighted(own),
    sums: {
      ratio: weighted(ratio),
      ...Object.fromEntries(
        Object.entries(metrics).map(([name, values]) => [
          name,
          weighted((values as PlainTensor).values),
        ]),
      ),
      oldPolicyKl: weighted(logRatio.map((value) => -value)),
      guarded: weighted(logRatio.map((value) => Number(Math.abs(value) > logRatioBound))),
    },
  };
}
