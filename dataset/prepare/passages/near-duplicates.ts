import { createHash } from 'node:crypto';

import minhash from 'minhash';

import { plainText } from '../plain-text.ts';

// Signatures of 128 values in bands of 4: texts of similarity 0.6 meet in a band with probability 0.99, of 0.8 with
// 1 - (1 - 0.8^4)^32 > 0.999999. Documents that meet by chance are separated by their true similarity.
const permutations = 128;
const bandSize = 4;
const shingleWords = 3;

interface Known {
  index: number;
  shingles: ReadonlySet<string>;
}

/**
 * For each text, the index of the first text that it repeats, its own where it repeats none: the same words, or
 * word triples of Jaccard similarity `threshold` or more (Broder 1997). MinHash bands propose pairs, the true
 * similarity decides. A threshold of 1 finds only texts of the same words.
 */
export function firstAlike(texts: readonly string[], threshold: number): number[] {
  const exact = new Map<string, number>();
  const index = new minhash.LshIndex({ bandSize });
  const known = new Map<string, Known>();
  return texts.map((text, at) => {
    const plain = plainText(text);
    const same = exact.get(plain);
    if (same !== undefined) return same;
    exact.set(plain, at);
    const shingles = shinglesOf(plain);
    if (threshold >= 1 || shingles.size === 0) return at;
    const signature = signatureOf(shingles);
    const key = String(at);
    // The index cannot be asked about bands it has never seen: put in first, then ask.
    index.insert(key, signature);
    let best: { index: number; similarity: number } | undefined;
    for (const candidate of index.query(signature)) {
      const other = known.get(candidate);
      if (other === undefined) continue;
      const similarity = jaccard(shingles, other.shingles);
      if (similarity < threshold || similarity <= (best?.similarity ?? -1)) continue;
      best = { index: other.index, similarity };
    }
    // A text that repeats another leads on to that one's first, so that later ones find it from either.
    const first = best?.index ?? at;
    known.set(key, { index: first, shingles });
    exact.set(plain, first);
    return first;
  });
}

function shinglesOf(plain: string): ReadonlySet<string> {
  const words = plain.split(' ').filter((word) => word !== '');
  if (words.length <= shingleWords) return new Set(words.length === 0 ? [] : [words.join(' ')]);
  return new Set(
    words
      .slice(0, words.length - shingleWords + 1)
      .map((_, i) => words.slice(i, i + shingleWords).join(' ')),
  );
}

function signatureOf(shingles: ReadonlySet<string>): minhash.Minhash {
  const signature = new minhash.Minhash({ numPerm: permutations });
  let hashed = 0;
  // The library's own hash is made anew for every permutation and is weak: one good hash per shingle instead.
  signature.hash = () => hashed;
  for (const shingle of shingles) {
    hashed = createHash('md5').update(shingle).digest().readUInt32BE(0);
    signature.update(shingle);
  }
  return signature;
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const shingle of small) if (large.has(shingle)) shared += 1;
  return shared / (a.size + b.size - shared);
}
