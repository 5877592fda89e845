/**
 * Exponential moving average with the weight of what came before, corrected for its start as Adam's moments are: the first
 * value is itself. What was not measured stays so and leaves the average alone.
 *
 * @param weight from 0, which changes nothing, to below 1
 */
export function smooth(
  values: readonly (number | null)[],
  weight: number,
): readonly (number | null)[] {
  if (weight === 0) return values;
  let [sum, mass] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return sum / mass;
  });
}
