import { truncates } from '../../core/services/generator.ts';
import type { Config } from '../config-schema.ts';
import {
  type Circumstances,
  idleProblems,
  type IdleSetting,
  idleSettings,
  idleWarnings,
  mistakenSettings,
} from './idle-settings.ts';
import { placeOf, type Places, type Problem } from './problem.ts';

interface Biased {
  key: 'topK' | 'topP' | 'minP';
  value: number;
}

/** The setting that makes the gradient biased, if one does. */
function biasedBy({ policy, train }: Config): Biased | undefined {
  const { sampling } = policy;
  if (train.mode !== 'rl' || !truncates(sampling)) return undefined;
  const key = sampling.topK > 0 ? 'topK' : sampling.topP < 1 ? 'topP' : 'minP';
  return { key, value: sampling[key] };
}

const whyBiased =
  'truncates the distribution that training samples from, but the update assumes the full distribution. This biases the gradient (truncation to mass q scales each ratio by q), and the probabilities of generator and learner cannot be compared';

/** Problems that are only refused in training runs. */
export function refusedInTraining(config: Config, places: Places): Problem[] {
  const mistakes = idleProblems(mistakenSettings(config), places);
  const biased = biasedBy(config);
  if (biased === undefined || config.policy.sampling.allowBiasedGradient) return mistakes;
  const { key, value } = biased;
  const problem = {
    location: placeOf(places, `/policy/sampling/${key}`).value,
    path: `policy.sampling.${key}`,
    text: `${value} ${whyBiased}. Remove this setting (evaluations use eval.temperature), or accept the bias with policy.sampling.allowBiasedGradient: true.`,
  };
  return [...mistakes, problem];
}

interface TrainingPlaces {
  places: Places;
  /** Plugin settings without effect. */
  more: IdleSetting[];
}

/** Warnings about the settings of a training run, for the terminal and the log, one sentence each. */
export function trainingWarnings(run: Circumstances, { places, more }: TrainingPlaces): string[] {
  const idle = idleSettings(run);
  const biased = biasedBy(run.config);
  return [
    ...idleWarnings([...idle, ...more], places),
    ...(biased ? [`policy.sampling.${biased.key} ${biased.value} ${whyBiased}.`] : []),
  ];
}
