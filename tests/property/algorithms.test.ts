import { describe, expect, test } from '@jest/globals';

import { groupRelative } from '#agent_rl/algorithms/advantages/group-relative.ts';
import { rloo } from '#agent_rl/algorithms/advantages/rloo.ts';
import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';
import { packMicroBatches } from '#agent_rl/algorithms/pack-micro-batches.ts';
import { passAtK, wilson95 } from '#agent_rl/algorithms/statistics.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import { tokenWeights } from '#agent_rl/algorithms/token-weights.ts';
import type { RewardGroup } from '#agent_rl/core/algorithm/advantage.ts';
import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { builtinLoss } from '#tests/support/algorithm-parts.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import * as fc from '#tests/support/properties.ts';

const reward = fc.integer({ min: -1000, max: 1000 }).map((value) => value / 100);
const group = fc.array(fc.option(reward, { nil: undefined }), { minLength: 1, maxLength: 16 });
const std = fc.constantFrom('sample', 'population', 'none' as const);
const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Equal to 6 digits, and absent in the same places. */
const sameNumbers = (
  values: readonly (number | undefined)[],
  expected: readonly (number | undefined)[],
): void => {
  const lacking = (all: typeof values) => all.map((value) => value === undefined);
  expect(lacking(values)).toEqual(lacking(expected));
  const gaps = values.map((value, i) => Math.abs((value ?? 0) - (expected[i] ?? 0)));
  expect(Math.max(0, ...gaps)).toBeLessThan(1e-6);
};

describe('The group of advantages', () => {
  test('sums to 0, follows its members through any order, and ignores absent ones', () => {
    fc.assert(
      fc.property(group, std, (rewards, divisor) => {
        const of = (members: typeof rewards) =>
          groupAdvantages(members, { std: divisor, eps: 1e-4 }).advantages;
        const given = of(rewards).filter((a) => a !== undefined);
        expect(sum(given)).toBeCloseTo(0, 8);
        sameNumbers(of(rewards.toReversed()).toReversed(), of(rewards));
        expect(of(rewards.filter((r) => r !== undefined))).toEqual(given);
      }),
    );
  });

  test('does not change when all rewards are shifted or, divided by their deviation, scaled', () => {
    fc.assert(
      fc.property(group, reward, fc.integer({ min: 1, max: 50 }), (rewards, shift, scale) => {
        const moved = rewards.map((r) => (r === undefined ? undefined : r * scale + shift));
        const before = groupAdvantages(rewards, { std: 'sample', eps: 0 });
        const after = groupAdvantages(moved, { std: 'sample', eps: 0 });
        sameNumbers(after.advantages, before.advantages);
      }),
    );
  });
});

describe('Every advantage that compares within groups', () => {
  const relative = (groups: RewardGroup[]) => groupRelative(groups, { std: 'sample', eps: 1e-4 });
  test.each([
    ['group-relative', relative],
    ['rloo', rloo],
  ] as const)('%s is the same when a group is there twice', (_, of) => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 4 }), (groups) => {
        const once = of(groups);
        const twice = of([...groups, groups[0] ?? []]);
        for (const [i, values] of once.entries()) sameNumbers(twice[i] ?? [], values);
        sameNumbers(twice.at(-1) ?? [], once[0] ?? []);
      }),
    );
  });
});

const mask = fc
  .array(fc.constantFrom(0, 1), { maxLength: 12 })
  .map((bits) => Uint8Array.from(bits));

describe('The token weighting', () => {
  test('prompt-mean gives every group with trained tokens the same weight, whatever is duplicated', () => {
    fc.assert(
      fc.property(fc.array(mask, { minLength: 1, maxLength: 6 }), (masks) => {
        const groups = masks.map((_, i) => i % 2);
        const options = { aggregation: 'prompt-mean', maxTokensPerEpisode: 12 } as const;
        const totals = (rows: readonly Uint8Array[], of: readonly number[]) => {
          const weights = tokenWeights(rows, { ...options, groups: of });
          return [0, 1, 2].map((g) =>
            sum(weights.map((row, i) => (of[i] === g ? sum([...row]) : 0))),
          );
        };
        const own = totals(masks, groups).filter((total) => total > 0);
        for (const total of own) expect(total).toBeCloseTo(1 / own.length, 5);
        const copied = masks.filter((_, i) => groups[i] === 0);
        const all = totals([...masks, ...copied], [...groups, ...copied.map(() => 2)]);
        expect(all[2]).toBeCloseTo(all[0] ?? Number.NaN, 5);
      }),
    );
  });

  test('sums to 1 for both means and gives untrained tokens no weight', () => {
    fc.assert(
      fc.property(fc.array(mask, { maxLength: 6 }), (masks) => {
        const trained = masks.some((row) => row.includes(1));
        for (const aggregation of ['token-mean', 'sequence-mean'] as const) {
          const weights = tokenWeights(masks, { aggregation, maxTokensPerEpisode: 12 });
          expect(sum(weights.map((row) => sum([...row])))).toBeCloseTo(trained ? 1 : 0, 5);
          weights.forEach((row, i) =>
            row.forEach((w, t) => expect(w > 0).toBe(masks[i]?.[t] === 1)),
          );
        }
      }),
    );
  });
});

const ppo = (kind: PolicyLossSpec['kl']['kind']): PolicyLossSpec => ({
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.3 },
  kl: { kind, weight: 0.5 },
  temperature: 1,
});
const logProb = fc.integer({ min: -800, max: 0 }).map((value) => value / 100);
const token = fc.record({
  logProbs: logProb,
  oldLogProbs: logProb,
  refLogProbs: logProb,
  advantages: fc.integer({ min: -30, max: 30 }).map((value) => value / 10),
  weights: fc.integer({ min: 0, max: 10 }).map((value) => value / 100),
});
type Token = typeof token extends fc.Arbitrary<infer T> ? T : never;

const lossOf = (tokens: readonly Token[], kind: PolicyLossSpec['kl']['kind']) =>
  tf.tidy(() => {
    const column = (name: keyof Token) => tf.tensor1d(tokens.map((values) => values[name]));
    const names = ['logProbs', 'oldLogProbs', 'refLogProbs', 'advantages', 'weights'] as const;
    const columns = Object.fromEntries(names.map((name) => [name, column(name)]));
    const given = columns as Record<keyof Token, ReturnType<typeof column>>;
    const { loss, sums } = policyLoss(given, ppo(kind), builtinLoss('clipped'));
    return { loss: loss.dataSync()[0] ?? NaN, kl: sums['kl']?.dataSync()[0] ?? NaN };
  });
const relative = (value: number, expected: number): number =>
  Math.abs(value - expected) / Math.max(1, Math.abs(expected));
const tokens = fc.array(token, { minLength: 1, maxLength: 10 });
const kind = fc.constantFrom('k1', 'k2', 'k3' as const);

describe('The policy loss', () => {
  test('has k2 and k3 penalties that are never negative', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom('k2', 'k3' as const), (batch, which) => {
        // k3 at a difference near 0 subtracts nearly equal fp32 numbers.
        expect(lossOf(batch, which).kl).toBeGreaterThanOrEqual(-1e-6);
      }),
    );
  });

  test('is the sum of its micro-batches, however it is split', () => {
    fc.assert(
      fc.property(tokens, kind, fc.nat(10), (batch, which, cut) => {
        const parts = [batch.slice(0, cut), batch.slice(cut)].filter((part) => part.length > 0);
        const split = sum(parts.map((part) => lossOf(part, which).loss));
        expect(relative(split, lossOf(batch, which).loss)).toBeLessThan(1e-4);
      }),
    );
  });

  test('ignores padding and the order of tokens', () => {
    fc.assert(
      fc.property(tokens, kind, (batch, which) => {
        const nothing = { oldLogProbs: 0, refLogProbs: -Infinity, advantages: NaN, weights: 0 };
        const padding = { logProbs: NaN, ...nothing };
        const { loss } = lossOf(batch, which);
        const padded = lossOf([padding, ...batch.toReversed(), padding], which).loss;
        expect(relative(padded, loss)).toBeLessThan(1e-4);
      }),
    );
  });
});

test('packMicroBatches packs every sequence once, within the budget unless alone', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }));
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 200 }), (lengths, budget) => {
      const batches = packMicroBatches(lengths, budget);
      expect(batches.flat().toSorted((a, b) => a - b)).toEqual([...lengths.keys()]);
      for (const batch of batches) {
        const longest = Math.max(...batch.map((index) => lengths[index] ?? 0));
        expect(batch.length === 1 || batch.length * longest <= budget).toBe(true);
      }
    }),
  );
});

test('wilson95 contains the rate, stays inside [0, 1] and narrows with more trials', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (n, some) => {
      const successes = some % (n + 1);
      const [low, high] = wilson95(successes, n);
      const [lowOfMore, highOfMore] = wilson95(successes * 4, n * 4);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low <= successes / n && successes / n <= high).toBe(true);
      expect(highOfMore - lowOfMore).toBeLessThan(high - low);
    }),
  );
});

test('passAtK is a probability that grows with k', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 40 }), fc.nat(40), (n, some) => {
      const rates = Array.from({ length: n }, (_, i) => passAtK(n, some % (n + 1), i + 1));
      for (const [i, rate] of rates.entries()) {
        expect(rate).toBeGreaterThanOrEqual((rates[i - 1] ?? 0) - 1e-12);
        expect(rate).toBeLessThanOrEqual(1);
      }
    }),
  );
});
