/** An exact number, as large as it is written; the denominator is positive. */
export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

const written =
  /^(?<sign>[-+]?)[$€£¥]?(?<whole>\d{1,3}(?:,\d{3})+|\d*)(?:\.(?<decimals>\d+))?(?:\/(?<below>\d+))?$/u;

/** Reads `-1,234.50`, `$3` or `3/4`; nothing for any other text and for a division by 0. */
export function parseFraction(text: string): Fraction | undefined {
  const groups = written.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { sign, decimals = '', below = '1' } = groups;
  const whole = (groups['whole'] ?? '').replaceAll(',', '');
  const denominator = BigInt(below) * 10n ** BigInt(decimals.length);
  if (whole + decimals === '' || denominator === 0n) return undefined;
  const size = BigInt(whole + decimals);
  return { numerator: sign === '-' ? -size : size, denominator };
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
export function fractionKey({ numerator, denominator }: Fraction): string {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const below = denominator / a;
  return `${numerator / a}${below === 1n ? '' : `/${below}`}`;
}
