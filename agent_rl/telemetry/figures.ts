/** `12.5 %` for 0.125. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** `1 call`, `2 calls`, `12,000 calls`. */
export const countText = (amount: number, noun: string): string =>
  `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;

/** With three significant digits. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(3)));
