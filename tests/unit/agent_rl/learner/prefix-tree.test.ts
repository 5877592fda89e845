import { describe, expect, test } from '@jest/globals';

import { plantForests, prefixTree } from '#agent_rl/learner/prefix-tree.ts';
import { array, assert, integer, property } from '#tests/support/properties.ts';

const sequence = (...tokens: number[]): Int32Array => Int32Array.from(tokens);
const some = array(array(integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 7 }), {
  minLength: 1,
  maxLength: 8,
});

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

describe('The division into forests', () => {
  test('keeps all together that fits', () => {
    const again = sequence(1, 2, 3);
    const sequences = [again, sequence(4, 5), again, sequence(1, 2, 3, 9)];
    expect(plantForests(sequences, 6)).toEqual([{ members: [0, 2, 3, 1], tokens: 6 }]);
  });

  test('ends a forest where the next sequence has least in common with it', () => {
    const sequences = [
      [1, 1],
      [1, 2],
      [2, 1, 1],
      [2, 1, 2],
      [2, 2],
    ].map((one) => sequence(...one));
    // Three sequences, of six tokens, would fit too, and the next forest would compute 2 and 1 again.
    expect(plantForests(sequences, 6)).toEqual([
      { members: [0, 1], tokens: 3 },
      { members: [2, 3, 4], tokens: 5 },
    ]);
    expect(plantForests(sequences.slice(2), 4).map(({ members }) => members)).toEqual([
      [0, 1],
      [2],
    ]);
  });

  test('holds each sequence once, with its neighbours, in forests no larger than allowed', () => {
    assert(
      property(some, integer({ min: 1, max: 12 }), (lists, most) => {
        const sequences = lists.map((tokens) => sequence(...tokens));
        const forests = plantForests(sequences, most);
        const order = forests.flatMap(({ members }) => members);
        expect(order.toSorted((i, j) => i - j)).toEqual([...lists.keys()]);
        for (const { members, tokens } of forests) {
          expect(tokens).toBe(prefixTree(members.map((index) => sequences[index]!)).tokens.length);
          expect(members.length === 1 || tokens <= most).toBe(true);
        }
        const texts = order.map((index) => lists[index]!.join());
        expect(texts).toEqual(texts.toSorted((a, b) => (a < b ? -1 : 1)));
      }),
    );
  });
});
