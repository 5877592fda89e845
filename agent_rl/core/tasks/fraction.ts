/** An exact number, as large as it is written; the denominator is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A fraction in its lowest terms. */
export function fraction(numerator: bigint, denominator = 1n): Fraction {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const by = denominator < 0n ? -a : a;
  return { numerator: numerator / by, denominator: denominator / by };
}

export const plus = (a: Fraction, b: Fraction): Fraction =>
  fraction(
    a.numerator * b.denominator + b.numerator * a.denominator,
    a.denominator * b.denominator,
  );

export const times = (a: Fraction, b: Fraction): Fraction =>
  fraction(a.numerator * b.numerator, a.denominator * b.denominator);

/** The largest integer that is not above a number. */
export function floorOf({ numerator, denominator }: Fraction): bigint {
  const cut = numerator / denominator;
  return numerator < 0n && cut * denominator !== numerator ? cut - 1n : cut;
}

/** Whether two numbers differ by at most `tolerance` times the second; 0 compares them exactly. */
export function nearlyEqual(a: Fraction, b: Fraction, tolerance: number): boolean {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  if (left === right) return true;
  const size = right < 0n ? -right : right;
  const difference = left > right ? left - right : right - left;
  return tolerance > 0 && Number(difference) <= tolerance * Number(size);
}

/** A number as text, the same for all ways of writing it: `3/4` for 0.75 and 6/8, `12` for 12.0. */
export function fractionKey(number: Fraction): string {
  const { numerator, denominator } = fraction(number.numerator, number.denominator);
  return `${numerator}${denominator === 1n ? '' : `/${denominator}`}`;
}
