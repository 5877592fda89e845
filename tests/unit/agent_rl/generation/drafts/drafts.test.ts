import { describe, expect, test } from '@jest/globals';

import { Drafts } from '#agent_rl/generation/drafts/drafts.ts';
import * as fc from '#tests/support/properties.ts';

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
    fc.assert(
      fc.property(
        fc.array(tokens),
        tokens,
        fc.integer({ min: 0, max: 6 }),
        (all, context, most) => {
          const drafts = new Drafts();
          for (const one of all) drafts.learn(one, 0);
          const guesses = drafts.after(context, most);
          expect(guesses.length).toBeLessThanOrEqual(most);
          const seen = new Set([...all.flat(), ...context]);
          for (const guess of guesses) expect(seen).toContain(guess);
        },
      ),
    );
  });
});
