import type { Sizes } from '../engine.ts';

/** A number that grows evenly with each size, or with the product of two. */
export type Growth = readonly Term[];

interface Term {
  /** None, one or two. */
  sizes: readonly string[];
  factor: number;
}

/** How much larger all are, twice: prime, so that what a number grew by tells the two sizes whose product it grew with. */
export const together = [
  [139, 149, 151, 157, 163],
  [211, 223, 227, 229, 233],
] as const;

/** Open sizes of a program at most. */
export const mostSizes = together[0].length;

interface Numbers {
  names: readonly string[];
  first: Sizes;
  /** At the first sizes, and where all are larger. */
  number: number;
  last: number;
  /** Of each size, where it alone is larger. */
  slopes: readonly number[];
}

/** How a number may grow: evenly with each size, or that with a product of two as well. */
export function growths({ names, first, number, last, slopes }: Numbers): Growth[] {
  const [more] = together;
  const rest = last - number - slopes.reduce((sum, slope, i) => sum + slope * more[i]!, 0);
  if (rest === 0) return [growthFrom({ names, first, number, slopes })];
  return names.flatMap((_, i) =>
    names.slice(0, i).flatMap((__, j) => {
      const factor = rest / (more[i]! * more[j]!);
      if (!Number.isInteger(factor)) return [];
      const [one, other] = [names[i]!, names[j]!];
      // Of a product with another size, a slope has that size as it was.
      const own = slopes.with(i, slopes[i]! - factor * first[other]!);
      const both = own.with(j, slopes[j]! - factor * first[one]!);
      const less = number - factor * first[one]! * first[other]!;
      const evenly = growthFrom({ names, first, number: less, slopes: both });
      return [[...evenly, { sizes: [one, other], factor }]];
    }),
  );
}

function growthFrom({ names, first, number, slopes }: Omit<Numbers, 'last'>): Growth {
  const own = names.map((name, i) => ({ sizes: [name], factor: slopes[i]! }));
  const factor = number - valueAt(own, first);
  return [{ sizes: [], factor }, ...own].filter((term) => term.factor !== 0);
}

export const valueAt = (growth: Growth, at: Sizes): number =>
  growth.reduce(
    (sum, { sizes, factor }) => sum + sizes.reduce((product, size) => product * at[size]!, factor),
    0,
  );

/** The same name where it is the same number. */
export const dimOf = (growth: Growth): number | string =>
  growth.every(({ sizes }) => sizes.length === 0)
    ? valueAt(growth, {})
    : growth.map(({ sizes, factor }) => [factor, ...sizes].join('*')).join('+');
