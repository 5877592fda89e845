import { AgentRlError } from '../../core/errors.ts';
import type { LossSpec, PolicyLossSpec } from '../../core/services/learner.ts';
import { findLoss } from '../../algorithms/losses/find-loss.ts';
import { policyLossInNumbers } from '../../algorithms/losses/policy-loss-in-numbers.ts';
import type { TrainDatum } from '../../core/services/batch.ts';

/** A loss of the Tinker protocol. */
export interface ServiceLoss {
  name: 'ppo' | 'cispo';
  /** Thresholds are bounds of the ratio, not distances from 1. */
  config: Readonly<Record<string, number>>;
}

/** `-A log p`: the weight of CISPO is clipped to 1, and no gradient flows through it. */
const logLikelihood: ServiceLoss = {
  name: 'cispo',
  config: { clip_low_threshold: 1, clip_high_threshold: 1 },
};

const settingsOf = ({ settings }: PolicyLossSpec): { clipLow: number; clipHigh: number } =>
  settings as { clipLow: number; clipHigh: number };

const ratioBounds = ({ clipLow, clipHigh }: { clipLow: number; clipHigh: number }) => ({
  clip_low_threshold: 1 - clipLow,
  clip_high_threshold: 1 + clipHigh,
});

/**
 * The loss of the service with the gradient of ours. A policy's weights and a likelihood's are advantages there, since its other
 * losses divide by the sum of the weights on some servers.
 *
 * @throws AgentRlError `CONFIG_INVALID` for losses that services do not have
 */
export function serviceLoss(loss: LossSpec): ServiceLoss {
  if (loss.name === 'cross_entropy') return logLikelihood;
  refuseTerms(loss);
  if (loss.module === undefined) {
    if (loss.type === 'reinforce') return logLikelihood;
    if (loss.type === 'cispo') return { name: 'cispo', config: ratioBounds(settingsOf(loss)) };
    if (loss.type === 'clipped') {
      if (loss.settings['dualClip'] !== undefined)
        throw refused(
          'algorithm.loss.dualClip',
          'the clipped loss of the service has no dual clip. Remove the setting',
        );
      return { name: 'ppo', config: ratioBounds(settingsOf(loss)) };
    }
  }
  throw refused(
    `algorithm.loss ${loss.type}`,
    'the service supports only its built-in losses. Use clipped, cispo or reinforce',
  );
}

function refuseTerms({ kl, entropyBonus = 0, distill, temperature }: PolicyLossSpec): void {
  if (kl.kind !== 'none')
    throw refused(
      `algorithm.kl ${kl.kind} in the loss`,
      'the losses of the service have no KL term. Set algorithm.kl.in to reward, or algorithm.kl.kind to none',
    );
  if (entropyBonus !== 0)
    throw refused(
      'algorithm.entropyBonus',
      'the losses of the service have no entropy term. Set algorithm.entropyBonus to 0',
    );
  if (distill !== undefined)
    throw refused(
      `Distillation over the ${distill.topK} likeliest tokens of a teacher`,
      'its losses know one token in each place. Distil by the sampled token alone',
    );
  if (temperature !== 1)
    throw refused(
      `policy.sampling.temperature ${temperature}`,
      'the service computes log-probabilities only at temperature 1. Set policy.sampling.temperature to 1',
    );
}

/** @param reason goes on after a colon, and says what to do */
export const refused = (what: string, reason: string): AgentRlError =>
  new AgentRlError('CONFIG_INVALID', `${what} is not supported by a Tinker service: ${reason}.`);

/** A loss on one sequence, from log-probabilities that a service computed. */
interface MeasuredLoss {
  /** Of each token, with its weight. */
  weighted: readonly number[];
  loss: number;
  sums: Readonly<Record<string, number>>;
}

type MeasureLoss = (datum: TrainDatum, logProbs: Float32Array) => MeasuredLoss;

/** The loss by our own definition. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
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
