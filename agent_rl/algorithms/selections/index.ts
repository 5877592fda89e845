import { type Static, Type } from '../../core/typebox.ts';
import { integer, mostReward, number, within } from '../../config/blocks/block.ts';
import { selection, type SelectionGroup } from '../../core/algorithm/selection.ts';
import { hasNoSpread } from '../statistics.ts';

const all = selection({ name: 'all', description: 'Every episode of every group' })(() => ({}));

const Dynamic = Type.Object({
  cap: integer(
    'Maximum number of sampling rounds per iteration. After the last one, groups with equal rewards are kept and counted',
    within(1, 1000, 2),
  ),
});

/**
 * Dynamic sampling: replaces each group whose rewards are all equal with another task's.
 *
 * DAPO, Yu et al. 2025, section 3.2, https://arxiv.org/abs/2503.14476
 *
 * Departure: at most `cap` rounds, so that an iteration ends also where every group is flat.
 */
const dynamic = selection({
  name: 'dynamic',
  description: 'Replaces groups whose rewards are all equal (DAPO)',
  settings: Dynamic,
})(({ rewards, round }: SelectionGroup, { cap }: Static<typeof Dynamic>) => ({
  again: round < cap && hasNoSpread(rewards.filter((reward) => reward !== undefined)),
}));

const BestOf = Type.Object({
  keep: Type.Optional(
    integer('Number of best episodes to keep per group; all above the threshold by default', {
      minimum: 1,
      maximum: 65_536,
      unit: 'episodes',
    }),
  ),
  above: number(
    'Reward threshold: only episodes above it are kept',
    within(-mostReward, mostReward, 0, 'reward'),
  ),
});

/**
 * Rejection sampling: the best episodes of a group above the threshold. The first of equal ones.
 *
 * - all good ones: Yuan et al. 2023, section 3.3, https://arxiv.org/abs/2308.01825
 * - the best one: RAFT, Dong et al. 2023, algorithm 1, https://arxiv.org/abs/2304.06767
 */
const bestOf = selection({
  name: 'best-of',
  description: 'The best episodes of each group above a threshold (rejection sampling)',
  settings: BestOf,
})(({ rewards }: SelectionGroup, { keep = Infinity, above }: Static<typeof BestOf>) => {
  const good = [...rewards.entries()].filter(
    ([, reward]) => reward !== undefined && reward > above,
  );
  const order = good.toSorted(([i, a], [j, b]) => (b ?? 0) - (a ?? 0) || i - j);
  const kept = new Set(order.slice(0, keep).map(([index]) => index));
  return { members: rewards.map((_, index) => kept.has(index)) };
});

export const builtinSelections = [all, dynamic, bestOf] as const;
