import { type Static, Type } from '../../core/typebox.ts';
import { choice, number, within } from '../../config/blocks/block.ts';
import {
  advantage,
  type AdvantageGroup,
  type EpisodeTurns,
  type RewardGroup,
  type TurnGroup,
} from '../../core/algorithm/advantage.ts';
import { groupBy } from '../../core/long-lists.ts';
import { groupAdvantages } from '../group-advantages.ts';

const Settings = Type.Object({
  std: choice(
    'What centred rewards of a group, and centred returns from a state, are divided by. sample or population: their standard deviation. none: nothing',
    ['sample', 'population', 'none'],
    'none',
  ),
  eps: number('Constant added to the standard deviation', {
    ...within(0, 1, 1e-4),
    idleWith: { std: 'none' },
  }),
  stepWeight: number(
    "Weight of the comparison of turns made in equal states (the paper's omega)",
    within(0, 10, 1),
  ),
  discount: number(
    "Factor of the next turn's return in that of a turn (the paper's gamma)",
    within(0, 1, 0.95),
  ),
});

/**
 * How much better an episode is than its group, plus `stepWeight` times how much better a turn's return is than the mean
 * return of all turns of the group that were made in the same state: `A = A_E + omega A_S`, with `A_S = (R_t - mean) / F`
 * and `R_t = r_t + gamma R_(t+1)`.
 *
 * GiGPO, Feng et al. 2025, eq. 3 and 5 to 8, https://arxiv.org/abs/2505.10978
 *
 * Departures: states are equal if the environment gives them equal names; a turn without one adds 0 (the paper compares
 * observations, also by similarity). Returns from a state that do not differ are exactly 0, as in `groupAdvantages`.
 *
 * No baseline goes by the index of a turn: such a sum has as many terms as the episode has turns, so that it pays or
 * charges for every further turn (https://github.com/verl-project/verl/issues/7244). With `std: none` and `discount: 1`
 * the first term is (1 - 1/n) times an unbiased gradient. The second is unbiased up to a factor for each state, unless
 * an episode comes back to a state: then its later choices are in the mean that its earlier ones are compared with.
 */
export const gigpo = advantage({
  name: 'gigpo',
  description:
    'Episodes compared in their group, and turns with turns made in the same state (GiGPO)',
  settings: Settings,
})(
  (
    groups: readonly RewardGroup[],
    settings: Static<typeof Settings>,
    turns: readonly TurnGroup[],
  ) =>
    groups.map((rewards, index): AdvantageGroup => {
      const whole = groupAdvantages(rewards, settings).advantages;
      const byState = stateAdvantages(turns[index] ?? [], settings);
      return whole.map((own, member) => {
        const steps = byState[member];
        return own === undefined || steps === undefined
          ? own
          : steps.map((step) => own + settings.stepWeight * step);
      });
    }),
);

interface Visit {
  state: string | undefined;
  value: number;
}

/** For each turn of a group, its return compared with the mean of the turns made in the same state. */
function stateAdvantages(
  turns: TurnGroup,
  settings: Static<typeof Settings>,
): readonly (readonly number[] | undefined)[] {
  const visits = turns.map((own) => own && visitsOf(own, settings.discount));
  const advantages = new Map<Visit, number>();
  const known = visits.flatMap((own) => own ?? []).filter(({ state }) => state !== undefined);
  for (const same of groupBy(known, ({ state }) => state).values()) {
    const values = same.map(({ value }) => value);
    for (const [at, own] of groupAdvantages(values, settings).advantages.entries())
      advantages.set(same[at]!, own ?? 0);
  }
  return visits.map((own) => own?.map((visit) => advantages.get(visit) ?? 0));
}

/** The turns of an episode with their discounted returns. */
function visitsOf({ rewards, states }: EpisodeTurns, discount: number): Visit[] {
  const visits = rewards.map((value, turn): Visit => ({ state: states?.[turn], value }));
  let next = 0;
  for (const visit of visits.toReversed()) {
    visit.value += discount * next;
    next = visit.value;
  }
  return visits;
}
