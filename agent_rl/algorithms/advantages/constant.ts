import { advantage, type RewardGroup } from '../../core/algorithm/advantage.ts';

/**
 * 1 for every episode with a reward: only the selection decides what is learned, as in rejection-sampling fine-tuning.
 *
 * Yuan et al. 2023, section 3.3, https://arxiv.org/abs/2308.01825
 */
export const constant = advantage({
  name: 'constant',
  description:
    'Advantage 1 for every episode: the policy imitates the selected episodes (rejection-sampling fine-tuning)',
})((groups: readonly RewardGroup[]) =>
  groups.map((rewards) => rewards.map((reward) => (reward === undefined ? undefined : 1))),
);
