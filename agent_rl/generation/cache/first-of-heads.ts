/** The first `kept` numbers of each head of [heads, ...], without the padding that follows them. */
export function firstOfHeads(
  whole: Float32Array,
  { heads, kept }: { heads: number; kept: number },
): Float32Array {
  const size = whole.length / heads;
  const part = new Float32Array(heads * kept);
  for (let head = 0; head < heads; head++)
    part.set(whole.subarray(head * size, head * size + kept), head * kept);
  return part;
}
