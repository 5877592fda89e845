/** Two floats are near when they differ by no more than this share of the expected one. */
const relativeTolerance = 1e-6;
/** Or by no more than this, for what is expected to be 0. */
const absoluteTolerance = 1e-9;

/** Whether a number is near the expected one. An infinite one is near none but itself, nan is near nan. */
export function near(actual: number, expected: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  // A tolerance that is a share of infinity would let every number pass.
  if (!Number.isFinite(actual) || !Number.isFinite(expected)) return false;
  const tolerance = Math.max(absoluteTolerance, relativeTolerance * Math.abs(expected));
  return Math.abs(actual - expected) <= tolerance;
}
