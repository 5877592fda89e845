import { type Static, Type } from '../../core/typebox.ts';
import { choice, number, within } from '../../config/blocks/block.ts';
import { advantage, type RewardGroup } from '../../core/algorithm/advantage.ts';
import { groupAdvantages } from '../group-advantages.ts';

const Settings = Type.Object({
  std: choice(
    'What the centred rewards of a group are divided by. sample or population: that standard deviation of the group. none: nothing (Dr. GRPO)',
    ['sample', 'population', 'none'],
    'sample',
  ),
  eps: number('Constant added to the standard deviation', {
    ...within(0, 1, 1e-4),
    idleWith: { std: 'none' },
  }),
});

/** Each group separately, see `groupAdvantages`. */
export const groupRelative = advantage({
  name: 'group-relative',
  description: "Reward minus the group's mean, divided by its standard deviation (GRPO, Dr. GRPO)",
  settings: Settings,
})((groups: readonly RewardGroup[], settings: Static<typeof Settings>) =>
  groups.map((rewards) => groupAdvantages(rewards, settings).advantages),
);
