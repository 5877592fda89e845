import type { Container } from 'inversify';

import type { Config } from '../config/index.ts';
import type { Cleanup } from '../core/stopping/cleanup.ts';
import { environmentScore } from '../rollout/combine-rewards.ts';
import type { GroupRewarding } from '../trainer/collect/group-rewards.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { openRewardManager } from './plugins/container.ts';

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
  const { entry, settings } = chosen.rewardManager;
  const { name } = entry.spec;
  const { plugin } = entry;
  const construction = { name, plugin, settings, needs: entry.spec.needs };
  const manager = openRewardManager(container, construction);
  opened.defer(() => manager.close?.());
  const { deadlines, failures, outcomes } = config.rollout;
  const terms = [
    { name: environmentScore, weight: config.algorithm.environmentWeight },
    ...chosen.rewards.map((reward) => ({ name: reward.name, weight: reward.weight })),
  ];
  return {
    name,
    source: entry.source,
    manager,
    terms: terms.filter(({ weight }) => weight !== 0),
    deadlineS: deadlines.gradingS,
    retries: outcomes['grader-error'] === 'retry' ? failures.retries : 0,
  };
}
