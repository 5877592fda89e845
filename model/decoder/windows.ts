/**
 * Positions of a window, which begins at a multiple of it. A token's attention adds up what stands before its window and what
 * stands in it apart, so that tokens of one window can be fed one by one or together, with the same bits.
 */
export const windowTokens = 16;

/** Where the window of a position begins. */
export const windowStart = (position: number): number => position - (position % windowTokens);

/** How many positions a window has from this one on. */
export const leftOfWindow = (position: number): number => windowTokens - (position % windowTokens);

/** Where the window of each position begins, and how far from there it is. */
export const windowsOf = (positions: ArrayLike<number>) => ({
  starts: Float32Array.from(positions, windowStart),
  offsets: Float32Array.from(positions, (position) => position % windowTokens),
});

/**
 * Where each place of a row's window is read from once the `count` tokens of a step follow what the row holds of it: theirs begin at the
 * row's position. [R * kv * windowTokens], among [R * kv * (windowTokens + count)].
 */
export function windowPlaces(
  positions: ArrayLike<number>,
  { kvHeads, count }: { kvHeads: number; count: number },
): Int32Array {
  const places = new Int32Array(positions.length * kvHeads * windowTokens);
  let at = 0;
  for (let entry = 0; entry < positions.length * kvHeads; entry++) {
    const offset = positions[Math.floor(entry / kvHeads)]! % windowTokens;
    const before = entry * (windowTokens + count);
    for (let place = 0; place < windowTokens; place++) {
      const isFed = place >= offset && place < offset + count;
      places[at++] = before + (isFed ? windowTokens + place - offset : place);
    }
  }
  return places;
}
