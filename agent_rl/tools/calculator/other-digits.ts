import { KeyedRng } from '../../core/keyed-rng.ts';

/** A text with another digit in the place of each of its digits, the same for the same text. A number keeps its length. */
export function otherDigits(text: string): string {
  const rng = new KeyedRng('other digits', text);
  return text.replaceAll(/\d+/gu, (digits) =>
    Array.from(digits, (digit, at) => {
      const least = at === 0 && digits.length > 1 ? 1 : 0;
      const others = '0123456789'.slice(least).replace(digit, '');
      return rng.pick(Array.from(others));
    }).join(''),
  );
}
