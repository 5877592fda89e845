import type { LossSpec } from '../core/services/learner.ts';

/** The settings of a run that lower what its engine holds at once: supervised training collects no episodes. */
export function memorySettings({
  training,
}: {
  training?: { loss: LossSpec } | undefined;
}): string {
  const ofEpisodes = 'rollout.workers and policy.maxContextTokens';
  if (training === undefined) return ofEpisodes;
  const isSupervised = training.loss.name === 'cross_entropy';
  return `algorithm.microBatchTokens${isSupervised ? '' : ` first, then ${ofEpisodes}`}`;
}
