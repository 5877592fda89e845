/** Results of a program as plain arrays. */
export const numbersOf = (found: Record<string, ArrayLike<number>>): Record<string, number[]> =>
  Object.fromEntries(Object.entries(found).map(([name, some]) => [name, Array.from(some)]));
