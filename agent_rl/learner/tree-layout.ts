import type { PrefixTree } from './prefix-tree.ts';

/** Trees as rows of a micro-batch: B rows of T tokens. */
export interface TreeLayout {
  /** Where each token stands in its sequences, [B, T]. */
  places: Int32Array;
  /** The last token of its row that sees each, [B, T]: a token is seen by itself and by what follows it in its sequences. */
  seenUpTo: Int32Array;
}

/** Padding sees itself alone: a row that sees nothing has no softmax. */
export function treeLayout(
  trees: readonly PrefixTree[],
  { sequences, length }: { sequences: number; length: number },
): TreeLayout {
  const places = new Int32Array(sequences * length);
  const seenUpTo = Int32Array.from({ length: sequences * length }, (_, at) => at % length);
  for (const [row, { parents, places: own }] of trees.entries()) {
    places.set(own, row * length);
    const last = seenUpTo.subarray(row * length, (row + 1) * length);
    // All that follows a token in its sequences stands right behind it: a tree is walked depth first.
    for (let token = parents.length - 1; token >= 0; token--) {
      const parent = parents[token]!;
      if (parent >= 0) last[parent] = Math.max(last[parent]!, last[token]!);
    }
  }
  return { places, seenUpTo };
}
