import { episodeKl, type KlInReward } from '../../algorithms/kl-in-reward.ts';
import { sum } from '../../algorithms/statistics.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { Part } from '../../core/rollout.ts';
import { drawnMasks } from '../../core/transcript.ts';
import type { PlayedGroup } from './collection.ts';

/**
 * Subtracts from each reward of the groups that a policy played the KL of its part to the frozen reference. The selection, and whether a group is flat,
 * use the rewards before.
 *
 * Both log-probabilities come from the learner: its difference to the generator is not a divergence, and would be
 * learned if all else were equal.
 */
export async function withKlRewards(
  { name, learner, reference }: { name: string } & Scoring,
  groups: readonly (readonly PlayedGroup[])[],
  { kind, weight, temperature }: KlInReward & { temperature: number },
): Promise<PlayedGroup[][]> {
  const data = groups.flat().filter(isPlayedBy(name)).flatMap(sampledIn);
  const tokens = data.map((one) => one.tokens);
  const options = { temperature, wanted: data.map(({ mask }) => mask) };
  const scored = data.length > 0;
  const policies = scored ? await learner.forward(tokens, { ...options, which: 'policy' }) : [];
  const references = scored ? await reference.score(tokens, options) : [];
  const of = new Map<Part, number>();
  for (const [index, { part, mask }] of data.entries()) {
    const [policy, frozen] = [policies[index], references[index]];
    if (policy === undefined || frozen === undefined)
      throw new Error(
        `Of ${data.length} sequences, the learner scored ${policies.length} and the reference model scored ${references.length}.`,
      );
    of.set(part, (of.get(part) ?? 0) + episodeKl({ policy, reference: frozen }, mask, kind));
  }
  const lessKl = (group: PlayedGroup): PlayedGroup => {
    const own = group.members.map(({ part }) => of.get(part) ?? 0);
    const rewards = group.rewards.map((reward, member) =>
      reward === undefined ? undefined : reward - weight * (own[member] ?? 0),
    );
    const nats = sum(own);
    return { ...group, rewards, kl: { nats, lost: weight * nats } };
  };
  return groups.map((agents) =>
    agents.map((group) => (isPlayedBy(name)(group) ? lessKl(group) : group)),
  );
}

/** What scores tokens under the weights of a policy, and under the reference. */
interface Scoring {
  learner: Pick<Learner, 'forward'>;
  reference: Scorer;
}

const isPlayedBy =
  (policy: string) =>
  ({ members: [one] }: PlayedGroup): boolean =>
    one?.part.policy === policy;

/**
 * The sequences of rewarded learners up to their last sampled token: later tokens have no influence, and may be many.
 */
function sampledIn({ learns, members, rewards }: PlayedGroup) {
  return members.flatMap(({ part }, member) => {
    if (!learns || rewards[member] === undefined) return [];
    return drawnMasks(part.sequences).map((mask, index) => {
      const end = mask.lastIndexOf(1) + 1;
      const { tokens = [] } = part.sequences[index] ?? {};
      return { part, tokens: Int32Array.from(tokens.slice(0, end)), mask: mask.subarray(0, end) };
    });
  });
}
