import { episodeKl, type KlInReward } from '../../algorithms/kl-in-reward.ts';
import { sum } from '../../algorithms/statistics.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
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
  { learner, reference }: { learner: Pick<Learner, 'forward'>; reference: Scorer },
  groups: readonly PlayedGroup[],
  { kind, weight, temperature }: KlInReward & { temperature: number },
): Promise<PlayedGroup[]> {
  const rewarded = groups.flatMap(({ trajectories, rewards }) =>
    trajectories.filter(({ learns }, member) => learns !== false && rewards[member] !== undefined),
  );
  const data = rewarded.map(sampledPart);
  if (data.length === 0) return groups.map((group) => ({ ...group, kl: { nats: 0, lost: 0 } }));
  const tokens = data.map((one) => one.tokens);
  const options = { temperature, wanted: data.map(({ mask }) => mask) };
  const policies = await learner.forward(tokens, { ...options, which: 'policy' });
  const references = await reference.score(tokens, options);
  const of = new Map<Trajectory, number>();
  for (const [index, trajectory] of rewarded.entries()) {
    const [own, policy, frozen] = [data[index], policies[index], references[index]];
    if (own === undefined || policy === undefined || frozen === undefined)
      throw new Error(
        `The learner scored ${policies.length} and the reference ${references.length} of ${data.length} sequences.`,
      );
    of.set(trajectory, episodeKl({ policy, reference: frozen }, own.mask, kind));
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
