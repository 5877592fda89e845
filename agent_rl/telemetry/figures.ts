/** `12.5 %` for 0.125. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** With three significant digits. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(3)));
