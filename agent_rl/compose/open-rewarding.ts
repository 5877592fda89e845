import type { Container } from 'inversify';

import type { Config } from '../config/index.ts';
import type { Cleanup } from '../core/stopping/cleanup.ts';
import { environmentScore } from '../rollout/combine-rewards.ts';
import type { RewardManager } from '../core/plugins/reward-manager.ts';
import type { GroupRewarding } from '../trainer/collect/group-rewards.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { construct } from './plugins/container.ts';

export interface RewardingOptions {
  config: Pick<Config, 'algorithm' | 'rollout'>;
  chosen: Pick<ChosenPlugins, 'rewardManager' | 'rewards'>;
  /** Of the run. */
  container: Container;
}

/** The reward manager that a config names, once for the run. */
export function openRewarding(
  { config, chosen, container }: RewardingOptions,
  opened: Cleanup,
): GroupRewarding {
  const { entry } = chosen.rewardManager;
  const manager = construct<RewardManager>(container, chosen.rewardManager, 'assign');
  opened.defer(() => manager.close?.());
  const { deadlines, failures, outcomes } = config.rollout;
  const terms = [
    { name: environmentScore, weight: config.algorithm.environmentWeight },
    ...chosen.rewards.map((reward) => ({ name: reward.name, weight: reward.weight })),
  ];
  return {
    name: entry.spec.name,
    source: entry.source,
    manager,
    terms: terms.filter(({ weight }) => weight !== 0),
    deadlineS: deadlines.gradingS,
    retries: outcomes['grader-error'] === 'retry' ? failures.retries : 0,
  };
}
