/**
 * Sequences with what they begin with in common once, walked depth first. A token's parent is the one before it in its
 * sequences; it stands after its parent.
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

/** The trees of some sequences; one by itself is a tree without branches. */
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

/** Some sequences of a list, and how many tokens they have with common beginnings once. */
export interface Forest {
  members: readonly number[];
  tokens: number;
}

/**
 * Divides sequences into forests of at most `mostTokens`, neighbours by their tokens together. What two forests have in common
 * is in both: a forest ends in its second half where that is least.
 */
export function plantForests(sequences: readonly Int32Array[], mostTokens: number): Forest[] {
  const order = inOrder(sequences);
  const common = order.map((index, at) =>
    at === 0 ? 0 : commonTokens(sequences[order[at - 1]!]!, sequences[index]!),
  );
  const forests: Forest[] = [];
  for (let from = 0; from < order.length;) {
    let tokens = sequences[order[from]!]!.length;
    let best = { to: order.length, tokens, common: Infinity };
    for (let to = from + 1; ; to++) {
      if (to === order.length) {
        best = { to, tokens, common: 0 };
        break;
      }
      const isBest = common[to]! <= best.common;
      if (isBest || 2 * best.tokens < mostTokens) best = { to, tokens, common: common[to]! };
      tokens += sequences[order[to]!]!.length - common[to]!;
      if (tokens > mostTokens) break;
    }
    forests.push({ members: order.slice(from, best.to), tokens: best.tokens });
    from = best.to;
  }
  return forests;
}
