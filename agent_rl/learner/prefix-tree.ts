import { largest } from '../core/long-lists.ts';

/**
 * Sequences that begin alike with their common tokens once. A token's parent is the one before it in its sequences; it stands
 * after its parent.
 */
export interface PrefixTree {
  tokens: Int32Array;
  /** -1 for first tokens. */
  parents: Int32Array;
  /** Where each token stands in its sequences. */
  places: Int32Array;
  /** Of each sequence, where its tokens are in the tree. */
  nodes: readonly Int32Array[];
}

/** Which sequences of a list make a tree together, and how many tokens it has. */
export interface TreeMembers {
  members: readonly number[];
  tokens: number;
}

/** How many tokens two sequences have in common from their start. */
function commonTokens(a: Int32Array, b: Int32Array): number {
  const most = Math.min(a.length, b.length);
  let common = 0;
  while (common < most && a[common] === b[common]) common++;
  return common;
}

function compared(a: Int32Array, b: Int32Array): number {
  const common = commonTokens(a, b);
  return (a[common] ?? -1) - (b[common] ?? -1);
}

/** By tokens, so that sequences that begin alike are neighbours. */
function inOrder(sequences: readonly Int32Array[]): number[] {
  return [...sequences.keys()].toSorted((i, j) => compared(sequences[i]!, sequences[j]!) || i - j);
}

/** The tree of some sequences; one by itself is a tree without branches. */
export function prefixTree(sequences: readonly Int32Array[]): PrefixTree {
  const nodes: Int32Array[] = sequences.map(({ length }) => new Int32Array(length));
  const [tokens, parents, places]: number[][] = [[], [], []];
  let before: number | undefined;
  for (const index of inOrder(sequences)) {
    const [own, sequence] = [nodes[index]!, sequences[index]!];
    const common = before === undefined ? 0 : commonTokens(sequences[before]!, sequence);
    if (before !== undefined) own.set(nodes[before]!.subarray(0, common));
    for (let place = common; place < sequence.length; place++) {
      parents!.push(place === 0 ? -1 : own[place - 1]!);
      own[place] = tokens!.push(sequence[place]!) - 1;
      places!.push(place);
    }
    before = index;
  }
  return {
    tokens: Int32Array.from(tokens!),
    parents: Int32Array.from(parents!),
    places: Int32Array.from(places!),
    nodes,
  };
}

export interface PlantOptions {
  /** Tokens of a sequence at which attention among them costs as much as all else. */
  attentionAsMuchAt: number;
  /** Most tokens of a tree of several sequences, of which the longest has `longest`. */
  mostTokens: (longest: number) => number;
}

/**
 * Divides sequences into trees so that least is computed. In a tree common tokens are computed once, but each token is compared
 * with all tokens of the tree, other branches included, so that sequences with little in common stay apart.
 */
export function plantTrees(
  sequences: readonly Int32Array[],
  { attentionAsMuchAt, mostTokens }: PlantOptions,
): TreeMembers[] {
  const order = inOrder(sequences);
  const added = order.map((index, at) => {
    const own = sequences[index]!;
    return own.length - (at === 0 ? 0 : commonTokens(sequences[order[at - 1]!]!, own));
  });
  const lengths = sequences.map(({ length }) => length);
  const mostOfAll = mostTokens(largest(lengths, 0));
  /** The cheapest division of the first sequences, by their number: where its last tree begins. */
  const best: { cost: number; from: number; tokens: number }[] = [{ cost: 0, from: 0, tokens: 0 }];
  for (let end = 1; end <= order.length; end++) {
    let cheapest = { cost: Infinity, from: 0, tokens: 0 };
    let [branches, longest] = [0, 0];
    for (let from = end - 1; from >= 0; from--) {
      const { length } = sequences[order[from]!]!;
      const tokens = length + branches;
      if (from < end - 1 && tokens > mostOfAll) break;
      longest = Math.max(longest, length);
      branches += added[from]!;
      if (from < end - 1 && tokens > mostTokens(longest)) continue;
      const cost = best[from]!.cost + tokens + tokens ** 2 / attentionAsMuchAt;
      if (cost < cheapest.cost) cheapest = { cost, from, tokens };
    }
    best.push(cheapest);
  }
  const trees: TreeMembers[] = [];
  for (let end = order.length; end > 0;) {
    const { from, tokens } = best[end]!;
    trees.push({ members: order.slice(from, end), tokens });
    end = from;
  }
  return trees.toReversed();
}
