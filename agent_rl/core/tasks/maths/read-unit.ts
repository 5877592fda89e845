import type { TextCursor } from './text-cursor.ts';
import { Undecided } from './undecided.ts';
import { isUnit, isWord } from './words.ts';

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
    const follows = /[\d.]\s+$/u.test(cursor.text.slice(Math.max(0, start - 20), start));
    const ends = /^(?:\^\{?-?\d\}?)?\s*(?:$|[/,.;)])/u.test(cursor.text.slice(end, end + 8));
    return follows && ends && /[mgslLhJNWVAKCF]/u.test(word);
  }
  if (isUnit(word)) return true;
  if (apart && isWord(word)) throw new Undecided(`${word} is a word that is not known.`);
  return false;
}
