import { describe, expect, test } from '@jest/globals';

import { rloo } from '#agent_rl/algorithms/advantages/rloo.ts';
import { cases, gapsOf, places, ratioOf, stored } from '#tests/support/conformance.ts';

/*
 * Each loss on one batch by its formula, ours, and as TRL's own trainer computed it (scripts/conformance/make_trl.py).
 */

describe.each(Object.entries(cases))('%s', (name, one) => {
  test("equals its formula and TRL's value", () => {
    const { formula, loss, gradient } = gapsOf(one, stored.losses[name]);
    expect(formula).toBeLessThan(1e-6);
    expect(loss).toBeLessThan(1e-6);
    expect(gradient).toBeLessThan(1e-6);
  });
});

test("rloo equals TRL's advantages, but leaves absent rewards undefined", () => {
  const own = rloo(stored.rewards.map((group) => group.map((reward) => reward ?? undefined)));
  const gaps = stored.rloo.flatMap((group, g) =>
    group.map((theirs, i) => Math.abs(theirs - (own[g]?.[i] ?? 0))),
  );
  expect(gaps).toHaveLength(20);
  expect(Math.max(...gaps)).toBeLessThan(1e-6);
});

test('the batch distinguishes the losses: each clips tokens', () => {
  const values = Object.values(stored.losses).map(({ loss }) => loss);
  expect(new Set(values.map((value) => value.toFixed(3))).size).toBe(values.length);
  // Of the four episodes, GSPO clips some and not all.
  const learned = stored.losses['gspo']?.gradient.filter((row) => row.some((slope) => slope !== 0));
  expect([1, 2, 3]).toContain(learned?.length);
  const all = places('token-mean').filter(({ trained }) => trained);
  expect(all.some((place) => place.advantage < 0 && ratioOf(place) > 1.35)).toBe(true);
  expect(all.some(({ old, behaviour }) => Math.exp(old - behaviour) > stored.cap)).toBe(true);
});
