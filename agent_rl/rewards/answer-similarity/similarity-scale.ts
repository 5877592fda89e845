import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Embedder } from '../../core/services/search.ts';
import { cosine } from '../../search/corpus/embedders/unit-vector.ts';

/** A cosine on the scale where `floor` is 0 and 1 is 1; lower values are 0. */
export const calibrated = (similarity: number, floor: number): number =>
  Math.min(1, Math.max(0, (similarity - floor) / (1 - floor)));

/**
 * Mean cosine of random pairs of different answers. Sentence embeddings lie in a narrow cone: E5 gives two unrelated
 * texts about 0.75, so that a raw cosine hardly tells a right answer from any other.
 *
 * @throws RangeError without two different answers, or if the embedder cannot distinguish answers.
 */
export async function randomPairFloor(
  embedder: Embedder,
  answers: Iterable<string>,
  pairs: number,
): Promise<number> {
  const different = [...new Set(answers)].toSorted();
  const drawn = new KeyedRng(0, 'random-pair-floor').shuffle(different).slice(0, 2 * pairs);
  if (drawn.length < 2) {
    throw new RangeError(
      `"floor" cannot be measured: it needs at least 2 different answers, but the tasks have ${drawn.length}. Set "floor" to a number.`,
    );
  }
  const vectors = await embedder.embed(drawn, 'query');
  const cosines = Array.from({ length: Math.floor(drawn.length / 2) }, (_, pair) =>
    cosine(vectors[2 * pair] as Float32Array, vectors[2 * pair + 1] as Float32Array),
  );
  const floor = cosines.reduce((sum, value) => sum + value, 0) / cosines.length;
  if (floor < 0.999) return floor;
  throw new RangeError(
    `${embedder.name} gives random pairs of answers a mean cosine of ${floor.toFixed(4)}, so it cannot distinguish answers.`,
  );
}
