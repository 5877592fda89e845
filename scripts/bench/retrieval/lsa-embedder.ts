import { EigenvalueDecomposition, Matrix, QrDecomposition } from 'ml-matrix';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Embedder } from '../../../agent_rl/core/services/search.ts';

/** Terms of a text with their weights, by the term's place in the vocabulary. */
type Sparse = ReadonlyMap<number, number>;

const oversampled = 16;
const powerSteps = 1;

/** Commonest words first: beyond these the factors take minutes and gain little. */
const mostTerms = 4000;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/**
 * Latent semantic analysis (Deerwester et al. 1990) of the very texts that are searched: a stand-in for an embedding
 * model where none is available. Vectors are TF-IDF weights projected on the first right singular vectors, which are
 * found by randomised subspace iteration (Halko et al. 2011, https://arxiv.org/abs/0909.4061).
 */
export function fitLsaEmbedder(texts: readonly string[], dimensions: number): Embedder {
  const tokens = texts.map(wordsOf);
  const documentCounts = new Map<string, number>();
  for (const words of tokens) {
    for (const word of new Set(words))
      documentCounts.set(word, (documentCounts.get(word) ?? 0) + 1);
  }
  const kept = [...documentCounts]
    .filter(([, count]) => count >= 2 && count <= texts.length / 2)
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, mostTerms);
  const vocabulary = new Map(
    kept.map(([word, count], id) => [word, { id, idf: Math.log(texts.length / count) }]),
  );
  const weigh = (words: readonly string[]): Sparse => {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const weights = new Map<number, number>();
    for (const [word, count] of counts) {
      const term = vocabulary.get(word);
      if (term !== undefined) weights.set(term.id, (1 + Math.log(count)) * term.idf);
    }
    const length = Math.hypot(...weights.values());
    return new Map([...weights].map(([id, weight]) => [id, weight / length]));
  };
  const axes = rightSingularVectors(tokens.map(weigh), vocabulary.size, dimensions);
  const vectorOf = (text: string): Float32Array => unit(project(weigh(wordsOf(text)), axes));
  return {
    name: `lsa ${texts.length} ${dimensions}`,
    embed: async (batch) => batch.map(vectorOf),
    close: async () => {},
  };
}

function project(row: Sparse, axes: Matrix): Float64Array {
  const vector = new Float64Array(axes.columns);
  for (const [id, weight] of row) {
    for (let axis = 0; axis < axes.columns; axis++) {
      vector[axis] = (vector[axis] ?? 0) + weight * axes.get(id, axis);
    }
  }
  return vector;
}

function unit(vector: Float64Array): Float32Array {
  const length = Math.hypot(...vector);
  // A text of unknown words is as far from one text as from another.
  if (length === 0) return new Float32Array(vector.length).fill(1 / Math.sqrt(vector.length));
  return Float32Array.from(vector, (value) => value / length);
}

/** First right singular vectors of a sparse matrix, as columns. [V, D] */
function rightSingularVectors(rows: readonly Sparse[], terms: number, dimensions: number): Matrix {
  const rng = new KeyedRng('lsa', terms, dimensions);
  const width = dimensions + oversampled;
  const start = Matrix.zeros(terms, width).apply(function fill(this: Matrix, row, column) {
    this.set(row, column, rng.normal());
  });
  let basis = new QrDecomposition(start).orthogonalMatrix;
  for (let step = 0; step < powerSteps; step++) {
    basis = new QrDecomposition(squared(rows, basis)).orthogonalMatrix;
  }
  const small = basis.transpose().mmul(squared(rows, basis));
  const { eigenvectorMatrix } = new EigenvalueDecomposition(small, { assumeSymmetric: true });
  // Eigenvalues come in rising order.
  const last = Array.from({ length: dimensions }, (_, index) => width - 1 - index);
  return basis.mmul(eigenvectorMatrix.subMatrixColumn(last));
}

/** The transpose of the matrix, times the matrix, times a dense one. [V, W] */
function squared(rows: readonly Sparse[], dense: Matrix): Matrix {
  const result = Matrix.zeros(dense.rows, dense.columns);
  for (const row of rows) {
    const image = project(row, dense);
    for (const [id, weight] of row) {
      for (const [axis, value] of image.entries()) {
        result.set(id, axis, result.get(id, axis) + weight * value);
      }
    }
  }
  return result;
}
