/** Pieces have this many weights at most. It decides the last bits of the norm of all weights. */
export const pieceLength = 2 ** 16;

/** What is the same for all weights of a step. */
export interface StepFactors {
  /** What gradients are multiplied by, to clip their norm. */
  scale: number;
  beta1: number;
  beta2: number;
  /** Learning rate over the bias correction of the first moment. */
  rate: number;
  /** What the root of the second moment is multiplied by, to correct its bias. */
  rootCorrection: number;
  eps: number;
}

/** Neighbouring weights of one parameter with all that a step needs of them. */
export interface Piece {
  weights: Float32Array;
  gradient: Float32Array;
  m: Float32Array;
  v: Float32Array;
  /** What is left of a weight by its decay. */
  kept: number;
}

/**
 * Updates weights and moments in place.
 *
 * @returns the sum of the squares of the new weights: another pass over them would cost a sixth of this one
 */
export function updatePiece(
  { weights, gradient, m, v, kept }: Piece,
  { scale, beta1, beta2, rate, rootCorrection, eps }: StepFactors,
): number {
  let squares = 0;
  for (let i = 0; i < weights.length; i++) {
    const g = (gradient[i] as number) * scale;
    const nextM = beta1 * (m[i] as number) + (1 - beta1) * g;
    const nextV = beta2 * (v[i] as number) + (1 - beta2) * g * g;
    m[i] = nextM;
    v[i] = nextV;
    const next =
      (weights[i] as number) * kept - (rate * nextM) / (Math.sqrt(nextV) * rootCorrection + eps);
    weights[i] = next;
    squares += next * next;
  }
  return squares;
}

/** The pieces of a parameter, in its order. */
export function piecesOf({ weights, gradient, m, v, kept }: Piece): Piece[] {
  return Array.from({ length: Math.ceil(weights.length / pieceLength) }, (_, at) => {
    const from = at * pieceLength;
    const part = (values: Float32Array) => values.subarray(from, from + pieceLength);
    return { weights: part(weights), gradient: part(gradient), m: part(m), v: part(v), kept };
  });
}
