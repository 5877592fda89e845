import { describe, expect, test } from '@jest/globals';

import { greedy } from '#agent_rl/core/services/generator.ts';
import { Drafts } from '#agent_rl/generation/drafts/drafts.ts';
import { feedsOf } from '#agent_rl/generation/drafts/feeds.ts';
import { KnownContexts } from '#agent_rl/generation/known-contexts.ts';
import { ActiveRequest, Slot } from '#agent_rl/generation/slot.ts';

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
  const request = {
    episode: 'episode',
    tokens: [],
    maxTokens,
    stopTokens,
    sampling: greedy,
    key: { seed: 1, taskId: 'task', sample: 0, turn: 0 },
  };
  const settle = { resolve: () => undefined, reject: () => undefined };
  slot.active = new ActiveRequest(request, undefined, settle);
  return slot;
}

const widths = { least: 1, most: 4 };

const fedTo = (slot: Slot): readonly number[] =>
  feedsOf([slot], { ...widths, least: 4 }, new Drafts()).feeds[0]!.tokens;

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

  test('feeds one token when less than three quarters of a token per row are saved', () => {
    const drafts = new Drafts();
    const slot = slotAt(36);
    const widthAt = (rate: number): number => {
      const right = drafts.rate < rate;
      while (right ? drafts.rate < rate : drafts.rate > rate) drafts.count(right);
      return feedsOf([slot], widths, drafts).width;
    };
    // Three guesses: a quarter of them right saves three quarters of a token.
    expect(widthAt(0.26)).toBe(4);
    expect(widthAt(0.24)).toBe(1);
    expect(feedsOf([slot], widths, drafts).feeds).toEqual([{ slot, tokens: [1] }]);
    expect(feedsOf([slot, slotAt(3)], widths, drafts).width).toBe(1);
    expect(widthAt(0.4)).toBe(4);
    expect(feedsOf([slot, slotAt(3)], widths, drafts).width).toBe(1);
    expect(widthAt(0.6)).toBe(4);
    expect(feedsOf([slot, slotAt(3)], widths, drafts).width).toBe(4);
  });

  test('feeds one token without guesses', () => {
    expect(feedsOf([slotAt(3)], widths, new Drafts()).width).toBe(1);
  });
});
