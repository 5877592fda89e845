import { episodeKl, type KlInReward } from '../../algorithms/kl-in-reward.ts';
import { sum } from '../../algorithms/statistics.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { maskOf } from '../../core/transcript.ts';
import type { PlayedGroup } from './collect-groups.ts';

/**
 * Takes off each reward the KL of its episode to the frozen reference. What the selection saw, and whether a group is
 * flat, are of the rewards before.
 *
 * Both log-probabilities are the learner's: what it and the generator differ by is no divergence, and would be learned
 * from where all else is equal.
 */
export async function withKlRewards(
  learner: Pick<Learner, 'forward'>,
  groups: readonly PlayedGroup[],
  { kind, weight, temperature }: KlInReward & { temperature: number },
): Promise<PlayedGroup[]> {
  const rewarded = groups.flatMap(({ trajectories, rewards }) =>
    trajectories.filter((_, member) => rewards[member] !== undefined),
  );
  const data = rewarded.map(sampledPart);
  const score = async (which: 'policy' | 'reference') => {
    const tokens = data.map((one) => one.tokens);
    const wanted = data.map(({ mask }) => mask);
    return tokens.length === 0 ? [] : learner.forward(tokens, { temperature, which, wanted });
  };
  const [policies, references] = [await score('policy'), await score('reference')];
  const of = new Map<Trajectory, number>();
  for (const [index, trajectory] of rewarded.entries()) {
    const [own, policy, reference] = [data[index], policies[index], references[index]];
    if (own === undefined || policy === undefined || reference === undefined)
      throw new Error(`The learner scored ${policies.length} of ${data.length} sequences.`);
    of.set(trajectory, episodeKl({ policy, reference }, own.mask, kind));
  }
  return groups.map((group) => {
    const own = group.trajectories.map((trajectory) => of.get(trajectory) ?? 0);
    const rewards = group.rewards.map((reward, member) =>
      reward === undefined ? undefined : reward - weight * (own[member] ?? 0),
    );
    const nats = sum(own);
    return Object.assign({ ...group }, { rewards, kl: { nats, lost: weight * nats } });
  });
}

/** An episode up to its last sampled token: what follows has no influence, and may be long. */
function sampledPart(trajectory: Trajectory): { tokens: Int32Array; mask: Uint8Array } {
  const mask = Uint8Array.from(maskOf(trajectory, 'sampled'));
  const end = mask.lastIndexOf(1) + 1;
  return { tokens: Int32Array.from(trajectory.tokens.slice(0, end)), mask: mask.subarray(0, end) };
}
