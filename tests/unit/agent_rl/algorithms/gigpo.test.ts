import { describe, expect, test } from '@jest/globals';

import { gigpo } from '#agent_rl/algorithms/advantages/gigpo.ts';
import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';
import type { AdvantageGroup, EpisodeTurns } from '#agent_rl/core/algorithm/advantage.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { describeAdvantageContract } from '#tests/contracts/advantage-contract.ts';
import { readFixture } from '#tests/support/exchanges.ts';

const plain = { std: 'none', eps: 1e-4, stepWeight: 1, discount: 1 } as const;

const total = ({ rewards }: EpisodeTurns): number => rewards.reduce((sum, one) => sum + one, 0);

/** The advantages of one group, by turn. */
const of = (turns: readonly EpisodeTurns[], settings: Partial<Parameters<typeof gigpo>[1]> = {}) =>
  gigpo([turns.map(total)], { ...plain, ...settings }, [turns])[0]!;

const close = (found: AdvantageGroup, expected: AdvantageGroup, digits = 9): void =>
  expect(found).toEqual(
    expected.map((own) =>
      typeof own === 'object' ? own.map((one) => expect.closeTo(one, digits)) : own,
    ),
  );

describe('The GiGPO advantage', () => {
  // Totals 1 and 0. Both begin in s; the first goes to a, the second to b and back to s.
  const one = { rewards: [0, 1], states: ['s', 'a'] };
  const other = { rewards: [-1, 0, 1], states: ['s', 'b', 's'] };

  test('adds to the episode what the return of a turn is above that of turns in the same state', () => {
    // From s: 1, 0 and 1, their mean 2/3. From a and b nothing else was tried.
    const third = 1 / 3;
    close(of([one, other]), [
      [0.5 + third, 0.5],
      [-0.5 - 2 * third, -0.5, -0.5 + third],
    ]);
  });

  test('discounts returns, and weighs the comparison of turns', () => {
    // From s with 1/2: 0 + 1/2, -1 + 0 + 1/4, and 1; their mean 1/4.
    close(of([one, other], { discount: 0.5, stepWeight: 2 }), [
      [0.5 + 2 * 0.25, 0.5],
      [-0.5 + 2 * -1, -0.5, -0.5 + 2 * 0.75],
    ]);
  });

  test('divides by the standard deviation of the group and of the state', () => {
    // Totals ±1/2 from the mean, sample deviation √(1/2). From s: 1/3, -2/3, 1/3, sample deviation √(1/3).
    const [own, third] = [Math.SQRT1_2, 1 / Math.sqrt(3)];
    close(of([one, other], { std: 'sample', eps: 0 }), [
      [own + third, own],
      [-own - 2 * third, -own, -own + third],
    ]);
  });

  test.each(['none', 'sample'] as const)("is what the authors' code computes with %s", (std) => {
    const stored = readFixture('conformance/gigpo.json') as {
      turns: readonly EpisodeTurns[];
      discount: number;
      stepWeight: number;
      none: readonly (readonly number[])[];
      sample: readonly (readonly number[])[];
    };
    const { turns, discount, stepWeight } = stored;
    close(of(turns, { std, eps: 1e-6, discount, stepWeight }), stored[std], 6);
  });

  test('compares no states of other groups, and none without a name', () => {
    const unnamed = [one, other].map(({ rewards }) => ({
      rewards,
      states: rewards.map(() => undefined),
    }));
    const whole = [
      [0.5, 0.5],
      [-0.5, -0.5, -0.5],
    ];
    close(of(unnamed), whole);
    close(of([{ rewards: one.rewards }, { rewards: other.rewards }]), whole);
    const apart = gigpo([[1], [0]], plain, [[one], [{ ...other, states: ['s', 'b', 'c'] }]]);
    expect(apart).toEqual([[[0, 0]], [[0, 0, 0]]]);
  });

  test('is that of the group where turns are not told apart, and absent without a reward', () => {
    expect(gigpo([[1, undefined, 0]], plain, [[undefined, undefined, undefined]])).toEqual([
      [0.5, undefined, -0.5],
    ]);
    const found = gigpo([[1, undefined, 0]], plain, [[one, undefined, undefined]]);
    expect(found).toEqual([[[0.5, 0.5], undefined, -0.5]]);
  });

  test('is exactly 0 where a group and the returns from its states have no spread', () => {
    const noisy = { rewards: [0.1, 0.2], states: ['s', 't'] };
    const sum = { rewards: [0.3, 0], states: ['s', 'u'] };
    expect(of([noisy, sum], { std: 'sample', eps: 0 })).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('sums to 0 over the turns made in a state, beside the advantage of the episode', () => {
    const random = new KeyedRng('gigpo');
    for (let round = 0; round < 50; round++) {
      const own = random.child(round);
      const turns = Array.from({ length: 5 }, (_, i): EpisodeTurns => {
        const length = 1 + own.child('length', i).integer(4);
        const number = (turn: number, what: string) => own.child(what, i, turn);
        return {
          rewards: Array.from({ length }, (__, turn) => number(turn, 'reward').uniform() - 0.5),
          states: Array.from({ length }, (__, turn) => `s${number(turn, 'state').integer(3)}`),
        };
      });
      const whole = groupAdvantages(turns.map(total), plain).advantages;
      const sums = new Map<string, number>();
      for (const [i, values] of of(turns, { discount: 0.9 }).entries())
        for (const [turn, value] of (values as readonly number[]).entries()) {
          const state = turns[i]?.states?.[turn] ?? '';
          sums.set(state, (sums.get(state) ?? 0) + value - (whole[i] ?? 0));
        }
      for (const sum of sums.values()) expect(sum).toBeCloseTo(0, 9);
    }
  });
});

describeAdvantageContract('gigpo', {
  plugin: gigpo,
  advantagesOf: (groups, turns) =>
    gigpo(groups, { std: 'sample', eps: 1e-4, stepWeight: 1, discount: 0.95 }, turns),
});
