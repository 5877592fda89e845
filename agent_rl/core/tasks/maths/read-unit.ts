import type { TextCursor } from './text-cursor.ts';
import { Undecided } from './undecided.ts';
import { isUnit, isWord, linking } from './words.ts';

export const letters = /[A-Za-z]+/uy;

/**
 * Whether the letters that follow are a unit and no variables: a word, or one letter that stands apart from a number.
 *
 * @throws Undecided for a short word that is neither
 */
export function atUnit(cursor: TextCursor): boolean {
  const word = cursor.peek(letters)?.[0] ?? '';
  const start = cursor.place;
  const end = start + word.length;
  const apart = /\s/u.test(cursor.text[start - 1] ?? '');
  if (word.length === 1) {
    const follows = /^[-+$]?[\d.,/\s]*[\d.]\s+$/u.test(cursor.text.slice(0, start));
    const ends = /^(?:(?:\^|\*\*)\{?-?\d\}?)?\s*(?:$|[/,.;)]|s\b)/u.test(
      cursor.text.slice(end, end + 8),
    );
    return follows && ends && /[mgslLhJNWVACF]/u.test(word);
  }
  if (isUnit(word) && (apart || word.length < 4)) return true;
  if (apart && isWord(word)) throw new Undecided(`The word ${word} is not known.`);
  return false;
}

/** @throws Undecided unless words behind an expression are units and nouns, with others between them that join them */
export function checkUnits(words: readonly string[]): void {
  const isKnown = (word: string, i: number): boolean =>
    isUnit(word) || (linking.test(word) && i > 0 && i < words.length - 1);
  const unknown = words.find((word, i) => !isKnown(word, i));
  if (unknown !== undefined) throw new Undecided(`${unknown} is not a unit.`);
}
