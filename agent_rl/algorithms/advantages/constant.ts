import { advantage, type RewardGroup } from '../../core/algorithm/advantage.ts';

/**
 * 1 for every episode that has a reward: what is learned from is decided by the selection alone, as in
 * rejection-sampling fine-tuning.
 *
 * Yuan et al. 2023, section 3.3, https://arxiv.org/abs/2308.01825
 */
export const constant = advantage({
  name: 'constant',
  description: '1 for every episode: what is selected is imitated (rejection-sampling fine-tuning)',
})((groups: readonly RewardGroup[]) =>
  groups.map((rewards) => rewards.map((reward) => (reward === undefined ? undefined : 1))),
);
