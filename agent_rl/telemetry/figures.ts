/** `12.5 %` for 0.125. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** `1 call`, `2 calls`, `12,000 calls`. */
export const countText = (amount: number, noun: string, several = `${noun}s`): string =>
  `${amount.toLocaleString('en')} ${amount === 1 ? noun : several}`;

/** With three significant digits. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(3)));

/** A difference of two shares in points of a percentage, with its sign: `+71.0` for 0.71. */
export const pointsText = (difference: number): string =>
  `${difference > 0 ? '+' : ''}${(100 * difference).toFixed(1)}`;

/** With four digits that matter. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace('e+', 'e');
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return size >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(4)));
}

/** `1.5 KiB`: a number of bytes with a unit of two's powers. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
