/** Insertions, deletions, substitutions and swaps of neighbours that turn one word into another. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const substitution = at(last, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, substitution);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) best = Math.min(best, at(beforeLast, j - 2) + 1);
      row.push(best);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, to.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;

// `learning_rate`, `learning-rate` and `learningrate` are all meant as `learningRate`.
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_\s]/g, '');

/** The name most similar to `word`, or `undefined` when more than a share of its letters would have to change. */
export function nearestName(
  word: string,
  names: Iterable<string>,
  share = 0.4,
): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const name of names) {
    const distance = editDistance(plain(word), plain(name));
    if (distance < least) [nearest, least] = [name, distance];
  }
  const limit = Math.max(1, Math.floor(word.length * share));
  return least <= limit ? nearest : undefined;
}
