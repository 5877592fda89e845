import { PCA } from 'ml-pca';

/** Eigenvalues this close, relative to the largest, are one, and then no direction of their space is the first. */
const sameEigenvalue = 1e-6;

/** A direction this short, before it is brought to length 1, points nowhere. */
const noDirection = 1e-6;

/**
 * First principal direction of rewards on one scale, [K][n]: K numbers, whose squares sum to 1.
 *
 * A principal direction has no sign of its own, and solvers differ: left alone, better episodes would come out worse
 * every other time. It is turned so that the sum of its numbers is positive, that is, so that episodes with more
 * reward in all come out ahead. Where several directions explain the same variance, the one nearest to equal numbers
 * is taken; where its sum is 0 (two opposed rewards), the one that agrees with the sum of the rewards on their own
 * scales, whose standard deviations are `stds`; and where that decides nothing either, all numbers are 0: none of the
 * episodes is better.
 */
export function principalDirection(
  rewards: readonly (readonly number[])[],
  stds: readonly number[],
): readonly number[] {
  if (rewards.length === 0) return [];
  const members = rewards[0]?.length ?? 0;
  const rows = Array.from({ length: members }, (_, i) => rewards.map((values) => values[i] ?? 0));
  const analysis = new PCA(rows, { method: 'covarianceMatrix', center: true, scale: false });
  const values = analysis.getEigenvalues();
  const [largest = 0] = values;
  // In columns; the space of the largest eigenvalue is spanned by its first ones.
  const vectors = analysis.getEigenvectors().transpose().to2DArray();
  const space = vectors.filter((_, k) => largest - (values[k] ?? 0) <= sameEigenvalue * largest);
  const equal = stds.map(() => 1);
  return nearestIn(space, equal) ?? nearestIn(space, stds) ?? stds.map(() => 0);
}

/** The direction in a space, given by orthonormal vectors, nearest to a target; `undefined` when they are orthogonal. */
function nearestIn(
  space: readonly (readonly number[])[],
  target: readonly number[],
): readonly number[] | undefined {
  const nearest = target.map((_, k) =>
    space.reduce((sum, vector) => sum + dot(vector, target) * (vector[k] ?? 0), 0),
  );
  const length = Math.hypot(...nearest);
  if (length <= noDirection * Math.hypot(...target)) return undefined;
  return nearest.map((value) => value / length);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
