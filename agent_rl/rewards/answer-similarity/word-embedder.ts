import { answerWords } from '../../core/tasks/answer-match.ts';
import type { Embedder } from '../../core/services/search.ts';

const dimensions = 4096;

/**
 * Compares words, not meanings: each word counts 1 + ln(times it stands there), in a place that is a hash of it. A
 * stand-in where there is no model.
 */
export const wordEmbedder: Embedder = {
  name: `words/${dimensions}`,
  embed: (texts) => Promise.resolve(texts.map(wordVector)),
  close: () => Promise.resolve(),
};

function wordVector(text: string): Float32Array {
  const counts = new Map<string, number>();
  for (const word of answerWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const vector = new Float32Array(dimensions);
  for (const [word, count] of counts) {
    const place = fnv1a(word) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1 + Math.log(count);
  }
  const length = Math.hypot(...vector);
  // A text without words is like no other: its vector stays 0.
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Fowler, Noll and Vo's hash of 32 bits. */
function fnv1a(word: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0;
  return hash;
}
