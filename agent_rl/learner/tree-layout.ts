import type { PrefixTree } from './prefix-tree.ts';

/** Trees as rows of a micro-batch: B rows of T tokens. */
export interface TreeLayout {
  /** Where each token stands in its sequences, [B, T]. */
  places: Int32Array;
  /** 0 where a token (row) may look: at itself and what comes before it in its sequences; -1e9 elsewhere. [B, T, T] */
  mask: Float32Array;
}

/** Padding sees itself alone: a row that sees nothing has no softmax. */
export function treeLayout(
  trees: readonly PrefixTree[],
  { sequences, length }: { sequences: number; length: number },
): TreeLayout {
  const places = new Int32Array(sequences * length);
  const mask = new Float32Array(sequences * length * length).fill(-1e9);
  for (let row = 0; row < sequences; row++) {
    const { parents, places: own } = trees[row] ?? {};
    if (own !== undefined) places.set(own, row * length);
    for (let token = 0; token < length; token++) {
      const start = (row * length + token) * length;
      const parent = parents?.[token] ?? -1;
      if (parent >= 0) {
        const above = (row * length + parent) * length;
        mask.copyWithin(start, above, above + parent + 1);
      }
      mask[start + token] = 0;
    }
  }
  return { places, mask };
}
