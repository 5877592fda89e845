import { describe, expect, test } from '@jest/globals';

import { greedy } from '#agent_rl/core/services/generator.ts';
import { Drafts } from '#agent_rl/generation/drafts/drafts.ts';
import { feedsOf, windowsOfSlots } from '#agent_rl/generation/drafts/feeds.ts';
import { KnownContexts } from '#agent_rl/generation/known-contexts.ts';
import { ActiveRequest, Slot } from '#agent_rl/generation/slot.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import * as fc from '#tests/support/properties.ts';

/** A slot that repeats 1, 2, 3, ..., 9 and has `pending` tokens to feed after its cached ones. */
function slotAt(
  cached: number,
  pending = 1,
  { maxTokens = 100, stopTokens = [] as number[] } = {},
) {
  const tokenAt = (place: number): number => 1 + (place % 9);
  const slot = new Slot('episode', new KnownContexts(0).enter([1]));
  for (let place = 0; place < cached; place++) slot.cached.push(tokenAt(place));
  slot.pending = Array.from({ length: pending }, (_, i) => tokenAt(cached + i));
  const request = requestOf('episode', { maxTokens, stopTokens, sampling: greedy });
  const settle = { resolve: () => undefined, reject: () => undefined };
  slot.active = new ActiveRequest(request, undefined, settle);
  return slot;
}

const widths = { least: 1, most: 4, guesses: true, ownTokens: 11 };
const rules = { widths, tokensOf: (count: number) => 4 * Math.ceil(count / 4) };

const fedTo = (slot: Slot): readonly number[] =>
  feedsOf([slot], { ...rules, drafts: new Drafts() }).feeds[0]!.tokens;

describe('A step', () => {
  test('feeds pending tokens first and then guesses', () => {
    expect(fedTo(slotAt(36))).toEqual([1, 2, 3, 4]);
    expect(fedTo(slotAt(36, 2))).toEqual([1, 2, 3, 4]);
    expect(fedTo(slotAt(36, 6))).toEqual([1, 2, 3, 4]);
  });

  test('feeds tokens of one window', () => {
    expect(fedTo(slotAt(62))).toEqual([9, 1]);
    expect(fedTo(slotAt(63))).toEqual([1]);
    expect(fedTo(slotAt(63, 3))).toEqual([1]);
    expect(fedTo(slotAt(64))).toEqual([2, 3, 4, 5]);
  });

  test("stops guessing before a stop token and at the end of the turn's room", () => {
    expect(fedTo(slotAt(36, 1, { stopTokens: [3] }))).toEqual([1, 2]);
    expect(fedTo(slotAt(36, 1, { maxTokens: 2 }))).toEqual([1, 2]);
    expect(fedTo(slotAt(36, 1, { maxTokens: 1 }))).toEqual([1]);
  });

  test('feeds guesses when the tokens and the shares of steps that they save are worth what they cost', () => {
    const drafts = new Drafts();
    const fed = (rate: number, slots: readonly Slot[]): readonly number[] => {
      const right = drafts.rate < rate;
      while (right ? drafts.rate < rate : drafts.rate > rate) drafts.count(right);
      return feedsOf(slots, { ...rules, drafts }).feeds.map(({ tokens }) => tokens.length);
    };
    const alike = (count: number) => Array.from({ length: count }, () => slotAt(36));
    // 4 and 16 tokens: each guess that is right saves 1 + 11 / 4 tokens, and 12 of 3.75 are worth 12.
    expect(fed(0.28, alike(4))).toEqual([4, 4, 4, 4]);
    expect(fed(0.25, alike(4))).toEqual([1, 1, 1, 1]);
    // The three tokens beside one are computed anyway.
    expect(fed(0.05, alike(1))).toEqual([4]);
    // Eleven rows without a guess would have three places each that cost a third of a token: 11 and 4 for 3 x (1 + 11 / 12).
    const without = Array.from({ length: 11 }, () => slotAt(3));
    expect(fed(0.95, [slotAt(36), ...without])).toEqual([1, ...without.map(() => 1)]);
    // What is certain is fed beside rows that have less.
    expect(fed(0.05, [slotAt(36), slotAt(36, 3), slotAt(36)])).toEqual([1, 3, 1]);
  });

  test('has as many places as the row with the most tokens', () => {
    const widthOf = (...slots: Slot[]) => feedsOf(slots, { ...rules, drafts: new Drafts() }).width;
    expect([widthOf(slotAt(3)), widthOf(slotAt(36)), widthOf(slotAt(3), slotAt(3, 2))]).toEqual([
      1, 4, 2,
    ]);
    expect(
      feedsOf([slotAt(3)], { ...rules, widths: { ...widths, least: 2 }, drafts: new Drafts() })
        .width,
    ).toBe(2);
  });

  test('has no guesses where they would be too many logits', () => {
    const few = { ...rules, widths: { ...widths, guesses: false }, drafts: new Drafts() };
    expect(feedsOf([slotAt(36)], few).feeds[0]!.tokens).toEqual([1]);
  });

  test('feeds long texts up to the ends of their windows', () => {
    const { feeds, width } = windowsOfSlots([slotAt(30, 40), slotAt(32, 40)]);
    expect([width, ...feeds.map(({ tokens }) => tokens.length)]).toEqual([16, 2, 16]);
  });
});

describe('The draft model', () => {
  test('guesses what followed the last earlier occurrence of the last three tokens in the context', () => {
    const context = [1, 2, 3, 9, 1, 2, 3, 7, 8, 1, 2, 3];
    expect(new Drafts().after(context, 2)).toEqual([7, 8]);
    expect(new Drafts().after(context, 9)).toEqual([7, 8, 1, 2, 3]);
  });

  test('tries the last four tokens drawn next, then two of the context, then two drawn', () => {
    const drafts = new Drafts();
    drafts.learn([1, 2, 3, 4, 50, 51], 4);
    drafts.learn([7, 8, 60], 2);
    expect(drafts.after([3, 4, 20, 1, 2, 3, 4], 2)).toEqual([50, 51]);
    expect(drafts.after([3, 4, 20, 9, 3, 4], 1)).toEqual([20]);
    expect(drafts.after([6, 7, 8], 1)).toEqual([60]);
  });

  test('guesses nothing after new tokens or when no guess is requested', () => {
    const drafts = new Drafts();
    expect(drafts.after([], 3)).toEqual([]);
    expect(drafts.after([1], 3)).toEqual([]);
    expect(drafts.after([1, 2, 3, 4], 3)).toEqual([]);
    expect(drafts.after([1, 1, 1, 1], 0)).toEqual([]);
  });

  test('repeats a repeated token', () => {
    expect(new Drafts().after([5, 1, 1, 1, 1], 3)).toEqual([1]);
  });

  test('tracks the recent share of right guesses', () => {
    const drafts = new Drafts();
    for (let i = 0; i < 1000; i++) drafts.count(false);
    expect(drafts.rate).toBeLessThan(0.001);
    for (let i = 0; i < 1000; i++) drafts.count(true);
    expect(drafts.rate).toBeGreaterThan(0.999);
  });

  test('remembers the last tokens and forgets the first', () => {
    const drafts = new Drafts();
    drafts.learn([1, 2, 3, 4, 5], 4);
    const many = Array.from({ length: 2 ** 16 }, (_, i) => 100 + i);
    expect(drafts.after([1, 2, 3, 4], 1)).toEqual([5]);
    drafts.learn(many, 0);
    expect(drafts.after([1, 2, 3, 4], 1)).toEqual([]);
    expect(drafts.after(many.slice(-9, -5), 2)).toEqual(many.slice(-5, -3));
  });

  test('guesses only tokens of the context or the draws, at most as many as requested', () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
    const asked = fc.integer({ min: 0, max: 6 });
    const guesses = fc.property(fc.array(tokens), tokens, asked, (all, context, most) => {
      const drafts = new Drafts();
      for (const one of all) drafts.learn(one, 0);
      const guessed = drafts.after(context, most);
      expect(guessed.length).toBeLessThanOrEqual(most);
      expect([...all.flat(), ...context]).toEqual(expect.arrayContaining([...guessed]));
    });
    fc.assert(guesses);
  });
});
