/** `count` as sizes of at most `most` that differ by one at most: a piece of one row would be computed differently. */
export function evenSizes(count: number, most: number): readonly number[] {
  const pieces = Math.max(1, Math.ceil(count / Math.max(2, most)));
  return Array.from(
    { length: pieces },
    (_, i) => Math.floor((count * (i + 1)) / pieces) - Math.floor((count * i) / pieces),
  );
}
