import { describe, expect, test } from '@jest/globals';

import { greedy, unbiased } from '#agent_rl/core/services/generator.ts';
import {
  type ComputedContext,
  drawKnown,
  isShared,
  KnownContexts,
} from '#agent_rl/generation/known-contexts.ts';
import { Slot } from '#agent_rl/generation/slot.ts';

/** Eight bytes: one layer, one head of one number. */
const kvOf = (value: number): ComputedContext => ({
  kv: (copy) => {
    const numbers = Float32Array.of(value, value + 0.5);
    return { length: 1, keys: [copy(numbers, 0, 1)], values: [copy(numbers, 1, 2)] };
  },
});

describe('The store of known contexts', () => {
  test('shares the context after a prompt once two episodes reach it', () => {
    const known = new KnownContexts(100);
    const start = known.enter([1, 2]);
    expect(isShared(start)).toBe(false);
    expect(known.enter([1, 2])).toBe(start);
    expect(isShared(start)).toBe(true);
    expect(known.enter([1, 2, 3])).not.toBe(start);
    const after = known.add(start, 7, kvOf(3))!;
    expect(start.after.get(7)).toBe(after);
    expect([...after.kv!.keys[0]!, ...after.kv!.values[0]!]).toEqual([3, 3.5]);
    expect(known.add(start, 7, kvOf(9))).toBe(after);
  });

  test('frees only contexts without episodes, the oldest prompt first', () => {
    const known = new KnownContexts(16);
    const [a, b] = [known.enter([1]), known.enter([2])];
    known.enter([1]);
    known.add(a, 5, kvOf(1));
    known.add(b, 5, kvOf(2));
    expect(known.add(b, 6, kvOf(3))).toBeUndefined();
    known.leave(a);
    expect(known.add(b, 6, kvOf(3))).toBeUndefined();
    known.leave(a);
    const made = known.add(b, 6, kvOf(3))!;
    expect(made.kv!.keys[0]![0]).toBe(3);
    expect(b.after.get(5)!.kv!.keys[0]![0]).toBe(2);
    expect(a.after.size).toBe(0);
    expect(known.add(a, 5, kvOf(1))).toBeUndefined();
  });

  test('keeps and shares a context only while there is room for it', () => {
    const known = new KnownContexts(30);
    const start = known.enter([1]);
    known.enter([1]);
    const two = Float32Array.of(0, 1);
    const next = (): ComputedContext => ({
      ...kvOf(1),
      next: (copy) => ({ temperature: 1, logProbs: copy(two, 0, 2), cumulative: copy(two, 0, 2) }),
    });
    const [a, b] = [known.add(start, 5, kvOf(1))!, known.add(start, 6, kvOf(2))!];
    expect(isShared(start)).toBe(true);
    // 16 bytes are taken, each of these needs 16 more.
    expect(known.add(start, 5, next())).toBe(a);
    expect(a.next).toBeUndefined();
    expect(isShared(start)).toBe(false);
    known.clear();
    const again = known.enter([1]);
    const c = known.add(again, 5, kvOf(1))!;
    known.add(again, 5, next());
    expect(c.next?.temperature).toBe(1);
    expect(known.add(again, 6, kvOf(1))).toBeUndefined();
    expect(b.next).toBeUndefined();
  });

  test('forgets a context with its only episode, and all contexts with the weights', () => {
    const known = new KnownContexts(8);
    const alone = known.enter([1]);
    known.add(alone, 5, kvOf(1));
    known.leave(alone);
    const next = known.enter([2]);
    expect(known.add(next, 5, kvOf(2))).toBeDefined();
    known.clear();
    expect(next.after.size).toBe(0);
    expect(known.add(next, 5, kvOf(2))).toBeUndefined();
    expect(known.enter([2])).not.toBe(next);
  });

  test('keeps the context of an episode only while another episode may follow', () => {
    const known = new KnownContexts(1000);
    const enter = (name: string): Slot => new Slot(name, known.enter([1]));
    const goOn = (slot: Slot, token: number): void => {
      slot.context = known.add(slot.context!, token, kvOf(token));
    };
    /** Whether it does when it is to be fed a token. */
    const stays = (slot: Slot, token: number): boolean => {
      slot.pending = [token];
      slot.leaveUnlessAwaited();
      return slot.context !== undefined;
    };
    const first = enter('first');
    goOn(first, 5);
    // An episode that arrives may go the same way.
    expect(stays(first, 9)).toBe(true);
    const second = enter('second');
    // What the second is fed is not known, and then that it goes another way, and then the same.
    expect(stays(first, 9)).toBe(true);
    second.pending = [5];
    expect(stays(first, 9)).toBe(true);
    goOn(second, 5);
    second.pending = [9];
    expect(stays(first, 9)).toBe(true);
    second.pending = [6];
    expect(stays(first, 9)).toBe(false);
    const [third, fourth] = [enter('third'), enter('fourth')];
    for (const token of [5, 7]) goOn(third, token);
    // The fourth goes elsewhere, with its turn's end too.
    fourth.pending = [8];
    expect(stays(third, 9)).toBe(false);
    const fifth = enter('fifth');
    goOn(fifth, 5);
    fourth.endTurn(5);
    expect(stays(fifth, 4)).toBe(true);
    // One that is gone, or has left, follows no other.
    fourth.context = undefined;
    second.context = undefined;
    // Where the third came to is known.
    expect(stays(fifth, 7)).toBe(true);
    expect(stays(fifth, 4)).toBe(false);
    const [sixth, seventh] = [enter('sixth'), enter('seventh')];
    goOn(sixth, 6);
    seventh.pending = [5];
    // To where the third is, and not to the sixth.
    expect(stays(sixth, 4)).toBe(false);
  });

  test('forgets a prompt without kept arrays with its last episode', () => {
    const known = new KnownContexts(0);
    const start = known.enter([1]);
    expect(known.enter([1])).toBe(start);
    known.leave(start);
    expect(known.enter([1])).toBe(start);
    known.leave(start);
    known.leave(start);
    expect(known.enter([1])).not.toBe(start);
    expect(isShared(start)).toBe(false);
  });

  test('draws the first token whose cumulative mass exceeds the share, at its temperature', () => {
    const next = {
      temperature: 1,
      logProbs: Float32Array.of(-1, -2, -3),
      cumulative: Float32Array.of(0.5, 0.75, 1),
    };
    const tokens = [0, 0.49, 0.5, 0.74, 0.75, 0.99].map(
      (uniform) => drawKnown(next, unbiased, uniform)?.token,
    );
    expect(tokens).toEqual([0, 0, 1, 1, 2, 2]);
    expect(drawKnown(next, unbiased, 0.6)?.logProb).toBe(-2);
    expect(drawKnown(next, { ...unbiased, temperature: 0.5 }, 0.6)).toBeUndefined();
    const likeliest = { token: 0, logProb: -1 };
    expect(drawKnown({ ...next, temperature: 0, likeliest }, greedy, 0.99)).toBe(likeliest);
    // The share is of the sum of all masses, which rounding leaves off 1.
    const half = { ...next, cumulative: Float32Array.of(0.25, 0.375, 0.5) };
    expect(drawKnown(half, unbiased, 0.4)?.token).toBe(0);
  });
});
