import { describe, expect, test } from '@jest/globals';

import { plantTrees, prefixTree } from '#agent_rl/learner/prefix-tree.ts';
import { array, assert, integer, property } from '#tests/support/properties.ts';

const sequence = (...tokens: number[]): Int32Array => Int32Array.from(tokens);
const some = array(array(integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 7 }), {
  minLength: 1,
  maxLength: 8,
});
/** More of trees that hold a long sequence. */
const mostTokens = (longest: number): number => (longest > 4 ? 12 : 6);
const options = { attentionAsMuchAt: 20, mostTokens };

describe('A prefix tree', () => {
  test('holds common tokens once, each after its parent', () => {
    const again = sequence(5, 6, 7);
    const tree = prefixTree([again, sequence(5, 6, 1, 2), sequence(5, 6), again]);
    expect([...tree.tokens]).toEqual([5, 6, 1, 2, 7]);
    expect([...tree.parents]).toEqual([-1, 0, 1, 2, 1]);
    expect([...tree.places]).toEqual([0, 1, 2, 3, 2]);
    const nodes = tree.nodes.map((own) => Array.from(own).join(' '));
    expect(nodes).toEqual(['0 1 4', '0 1 2 3', '0 1', '0 1 4']);
  });

  test('restores every sequence from its nodes and from their parents', () => {
    assert(
      property(some, (lists) => {
        const tree = prefixTree(lists.map((tokens) => sequence(...tokens)));
        const distinct = new Set(
          lists.flatMap((tokens) => tokens.map((_, place) => tokens.slice(0, place + 1).join())),
        );
        expect(tree.tokens).toHaveLength(distinct.size);
        for (const [index, tokens] of lists.entries()) {
          const own = [...tree.nodes[index]!];
          expect(own.map((node) => tree.tokens[node])).toEqual(tokens);
          expect(own.map((node) => tree.places[node])).toEqual([...tokens.keys()]);
          expect(own.map((node) => tree.parents[node])).toEqual([-1, ...own.slice(0, -1)]);
        }
        for (const [node, parent] of tree.parents.entries()) expect(parent).toBeLessThan(node);
      }),
    );
  });
});

describe('The division into trees', () => {
  test('puts equal sequences together and keeps sequences with another beginning apart', () => {
    const again = sequence(1, 2, 3);
    const sequences = [again, sequence(4, 5), again, sequence(1, 2, 3, 9)];
    expect(plantTrees(sequences, options)).toEqual([
      { members: [0, 2, 3], tokens: 4 },
      { members: [1], tokens: 2 },
    ]);
  });

  test('keeps long branches apart, whose tokens would be compared for nothing', () => {
    const [a, b] = [sequence(1, 2, 2, 2, 2, 2), sequence(1, 3, 3, 3, 3, 3)];
    // Apart 12 + 72 / 20 = 15.6, together 11 + 121 / 20 = 17.05; with wider layers 12.07 and 11.12.
    expect(plantTrees([a, b], options)).toHaveLength(2);
    expect(plantTrees([a, b], { ...options, attentionAsMuchAt: 1000 })).toHaveLength(1);
  });

  test('makes no tree of several sequences longer than allowed', () => {
    const [a, b] = [sequence(1, 2, 3), sequence(1, 2, 4)];
    expect(plantTrees([a, b], { ...options, mostTokens: () => 4 })).toHaveLength(1);
    expect(plantTrees([a, b], { ...options, mostTokens: () => 3 })).toHaveLength(2);
    expect(plantTrees([a, a], { ...options, mostTokens: () => 2 })).toHaveLength(2);
  });

  test('costs no more than any other division into neighbours and holds each sequence once', () => {
    assert(
      property(some, (lists) => {
        const sequences = lists.map((tokens) => sequence(...tokens));
        const trees = plantTrees(sequences, options);
        const order = trees.flatMap(({ members }) => members);
        expect(order.toSorted((i, j) => i - j)).toEqual([...lists.keys()]);
        const sizeOf = (members: readonly number[]): number =>
          prefixTree(members.map((index) => sequences[index]!)).tokens.length;
        for (const { members, tokens } of trees) expect(tokens).toBe(sizeOf(members));
        const costOf = (tokens: number) => tokens + tokens ** 2 / options.attentionAsMuchAt;
        const costs = divisions(order).map((division) =>
          division.reduce((sum, members) => {
            const tokens = sizeOf(members);
            const longest = Math.max(...members.map((index) => sequences[index]!.length));
            if (members.length > 1 && tokens > mostTokens(longest)) return Infinity;
            return sum + costOf(tokens);
          }, 0),
        );
        const cost = trees.reduce((sum, { tokens }) => sum + costOf(tokens), 0);
        expect(cost).toBeCloseTo(Math.min(...costs), 9);
      }),
    );
  });
});

/** All ways to cut a list into neighbours. */
function divisions(list: readonly number[]): number[][][] {
  const [first, ...rest] = list;
  if (first === undefined) return [[]];
  if (rest.length === 0) return [[[first]]];
  return divisions(rest).flatMap(([head, ...others]) => [
    [[first], head!, ...others],
    [[first, ...head!], ...others],
  ]);
}
