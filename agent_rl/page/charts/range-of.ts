/** Room above and below, as a share of what lies between. */
const room = 0.08;
/** Of the size of values: what differs by less is as good as constant, and would drive the axis out of its numbers. */
const leastRoom = 1e-5;

/**
 * The range of an axis around what was measured, null where nothing was: with some room, but not across 0; of a line that is
 * 0 throughout, up to 1. What is stacked begins at 0.
 */
export function rangeOf(
  low: number | null,
  high: number | null,
  isStacked: boolean,
): [number, number] {
  const [least, most] = [low ?? 0, high ?? 0];
  if (least === 0 && most === 0) return [0, 1];
  if (isStacked) return [0, most];
  const pad = Math.max(room * (most - least), leastRoom * Math.max(-least, most));
  return [least >= 0 && least < pad ? 0 : least - pad, most <= 0 && -most < pad ? 0 : most + pad];
}
