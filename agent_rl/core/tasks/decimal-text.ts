/** Digits of the longest number that is written out; a longer one stays as it is written. */
const mostDigits = 1000;

/**
 * A number as a plain decimal without zeros that say nothing: `0.0000001` for 1e-7, `1` for 1.0. It is the text that is
 * changed, so no digit is lost.
 *
 * @param written a number as JSON has it
 */
export function decimalText(written: string): string {
  const [, sign = '', whole = '', decimals = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(written) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > mostDigits) return written;
  const digits = '0'.repeat(Math.max(0, 1 - whole.length - shift)) + whole + decimals;
  const point = digits.length - decimals.length + shift;
  const padded = digits.padEnd(point, '0');
  const above = padded.slice(0, point).replace(/^0+(?=\d)/, '');
  const below = padded.slice(point).replace(/0+$/, '');
  const size = below === '' ? above : `${above}.${below}`;
  return size === '0' ? size : `${sign}${size}`;
}

/** A label as text: a number as a plain decimal. */
export const labelText = (label: string | number | bigint | boolean): string =>
  typeof label === 'number' ? decimalText(String(label)) : String(label);
