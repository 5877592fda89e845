import { tokensOfBlock } from '../engine/ops.ts';

/** What attention must know of trees in one row of T tokens, which it takes in blocks. */
export interface TreeLayout {
  /** The last token that sees each, [T]: a token is seen by itself and by what follows it in its sequences. */
  seenUpTo: Int32Array;
  /** The tokens before each block that its first token sees, in order, and its own, [blocks, most]. */
  keys: Int32Array;
  /** How many these are, [blocks]. */
  keyCounts: Int32Array;
  /** How many of the tokens before each block the first token behind it sees too, [blocks]. */
  stillOpen: Int32Array;
  /** The numbers of the blocks, the last one first, [blocks]. */
  lastFirst: Int32Array;
}

/**
 * @param parents of the tokens, as in a `PrefixTree`
 * @param length tokens of the row, whole blocks; padding sees itself alone: a token that sees nothing has no softmax
 * @returns the layout, and the most tokens that a block is compared with
 */
export function treeLayout(
  parents: Int32Array,
  length: number,
): { layout: TreeLayout; most: number } {
  const seenUpTo = Int32Array.from({ length }, (_, at) => at);
  // All that follows a token in its sequences stands right behind it: trees are walked depth first.
  for (let token = parents.length - 1; token >= 0; token--) {
    const parent = parents[token]!;
    if (parent >= 0) seenUpTo[parent] = Math.max(seenUpTo[parent]!, seenUpTo[token]!);
  }
  const starts = Array.from(
    { length: length / tokensOfBlock },
    (_, block) => block * tokensOfBlock,
  );
  const paths = starts.map((start) => pathTo(parents[start] ?? -1, parents));
  const seen = starts.map((start, block) => [
    ...paths[block]!,
    ...Array.from({ length: tokensOfBlock }, (_, at) => start + at),
  ]);
  const most = seen.reduce((longest, one) => Math.max(longest, one.length), 0);
  const keys = new Int32Array(starts.length * most);
  for (const [block, some] of seen.entries()) keys.set(some, block * most);
  return {
    layout: {
      seenUpTo,
      keys,
      keyCounts: Int32Array.from(seen, (some) => some.length),
      stillOpen: Int32Array.from(
        starts,
        (start, block) => (paths[block + 1] ?? []).filter((token) => token < start).length,
      ),
      lastFirst: Int32Array.from(starts.keys()).toReversed(),
    },
    most,
  };
}

/** A token and what it sees, first to last. A later token of a block sees no others before the block than its first does. */
function pathTo(token: number, parents: Int32Array): number[] {
  const path: number[] = [];
  for (let at = token; at >= 0; at = parents[at]!) path.push(at);
  return path.toReversed();
}
