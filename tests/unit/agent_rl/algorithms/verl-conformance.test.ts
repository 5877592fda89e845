import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { rloo } from '#agent_rl/algorithms/advantages/rloo.ts';
import { groupAdvantages } from '#agent_rl/algorithms/group-advantages.ts';
import { episodeKl } from '#agent_rl/algorithms/kl-in-reward.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import {
  type Case,
  cases,
  gapsOf,
  ratioOf,
  type Rows,
  stored,
  surrogate,
} from '#tests/support/conformance.ts';

/*
 * The same batch as veRL's own functions have it (scripts/conformance/make_verl.py): losses with their aggregations, and
 * KL off the reward with the advantages made of it.
 */

type Kind = 'k1' | 'k2' | 'k3';

const verl = JSON.parse(
  readFileSync(join(packageRoot(), 'tests/fixtures/conformance/verl.json'), 'utf8'),
) as {
  losses: Readonly<Record<string, { loss: number; gradient: Rows }>>;
  rewards: readonly number[];
  beta: number;
  klInReward: Readonly<
    Record<Kind, { klMean: number } & Record<'rewards' | 'grpo' | 'drGrpo' | 'rloo', number[]>>
  >;
};

const clipped = (aggregation: Case['aggregation'], low: number, high: number): Case => ({
  type: 'clipped',
  aggregation,
  settings: { clipLow: low, clipHigh: high },
  formula: (place) => -surrogate(ratioOf(place), place.advantage, low, high),
});

const all: Readonly<Record<string, Case>> = {
  ...cases,
  'grpo, sequence-mean': clipped('sequence-mean', 0.2, 0.2),
  'dr-grpo, constant': clipped('constant', 0.2, 0.28),
};

test('veRL provides a value for each case', () => {
  expect(Object.keys(verl.losses).toSorted()).toEqual(Object.keys(all).toSorted());
});

describe.each(Object.entries(all))('%s', (name, one) => {
  test("equals its formula and veRL's value", () => {
    const { formula, loss, gradient } = gapsOf(one, verl.losses[name]);
    expect(formula).toBeLessThan(1e-6);
    expect(loss).toBeLessThan(1e-6);
    expect(gradient).toBeLessThan(1e-6);
  });
});

/** By the definition of each estimator. */
const formulas: Readonly<Record<Kind, (policy: number, reference: number) => number>> = {
  k1: (policy, reference) => policy - reference,
  k2: (policy, reference) => (policy - reference) ** 2 / 2,
  k3: (policy, reference) => Math.exp(reference - policy) - (reference - policy) - 1,
};

describe.each(['k1', 'k2', 'k3'] as const)(
  "the KL penalty in the reward equals veRL's with %s",
  (kind) => {
    const theirs = verl.klInReward[kind];
    const { old, reference, mask } = stored.batch;
    const kl = mask.map((row, i) =>
      episodeKl({ policy: old[i] ?? [], reference: reference[i] ?? [] }, row, kind),
    );
    const rewards = verl.rewards.map((reward, i) => reward - verl.beta * (kl[i] ?? Number.NaN));
    const gap = (values: readonly (number | undefined)[], others: readonly number[]): number =>
      Math.max(...others.map((other, i) => Math.abs(other - (values[i] ?? Number.NaN))));

    test("equals its formula and veRL's reward", () => {
      const byFormula = verl.rewards.map((reward, i) =>
        (mask[i] ?? []).reduce(
          (left, sampled, t) =>
            left -
            sampled * verl.beta * formulas[kind](old[i]?.[t] ?? NaN, reference[i]?.[t] ?? NaN),
          reward,
        ),
      );
      expect(gap(rewards, byFormula)).toBeLessThan(1e-12);
      expect(gap(rewards, theirs.rewards)).toBeLessThan(1e-6);
      // It moves each of them.
      expect(Math.min(...kl.map(Math.abs))).toBeGreaterThan(1e-3);
    });

    test("equals veRL's advantages for GRPO, Dr. GRPO and RLOO", () => {
      const of = (std: 'sample' | 'none') =>
        groupAdvantages(rewards, { std, eps: 1e-6 }).advantages;
      expect(gap(of('sample'), theirs.grpo)).toBeLessThan(1e-5);
      expect(gap(of('none'), theirs.drGrpo)).toBeLessThan(1e-6);
      expect(gap(rloo([rewards])[0] ?? [], theirs.rloo)).toBeLessThan(1e-6);
    });
  },
);
