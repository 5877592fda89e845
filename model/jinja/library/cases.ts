import { unreachable } from '../../../agent_rl/core/unreachable.ts';
import { pythonSpace } from '../values/python-text.ts';
import { Unsupported } from '../values/value.ts';

export const uppered = (text: string): string => text.toUpperCase();
export const lowered = (text: string): string => text.toLowerCase();

/** Letters that have a case of their own at the start of a title: digraphs, and Greek with a subscript. */
const ownTitle =
  /[\u0149\u01c4-\u01cc\u01f1-\u01f3\u1f80-\u1faf\u1fb2-\u1fb4\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc7\u1fcc\u1ff2-\u1ff4\u1ff7\u1ffc\u10d0-\u10ff\u1c90-\u1cbf]/;

/** A letter as it stands at the start of a title. */
function titleCase(letter: string): string {
  if (ownTitle.test(letter)) throw new Unsupported(`the title case of ${letter}`);
  const upper = letter.toUpperCase();
  const [first = '', ...rest] = upper;
  return first + rest.join('').toLowerCase();
}

export function capitalized(text: string): string {
  const [first = ''] = text;
  return titleCase(first) + text.toLowerCase().slice(first.toLowerCase().length);
}

const isCased = /[\p{Lu}\p{Ll}\p{Lt}\p{Uppercase}\p{Lowercase}]/u;

/** Python's `text.title()`: letters that follow no letter become capitals, all others small. */
export function titled(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) throw new Unsupported(`the title case of ${text}`);
  let written = '';
  let at = 0;
  let isInside = false;
  for (const symbol of text) {
    const next = at + symbol.length;
    written += isInside ? lower.slice(at, next) : titleCase(symbol);
    isInside = isCased.test(symbol);
    at = next;
  }
  return written;
}

/** Python's `casefold` and `swapcase`. @throws Unsupported beyond ASCII, where they are more than lower and upper case */
export function casesOf(text: string, kind: 'casefold' | 'swapcase'): string {
  if (/[^\p{ASCII}]/u.test(text)) throw new Unsupported(`${kind} of a text that is not ASCII`);
  if (kind === 'casefold') return text.toLowerCase();
  return text.replace(/[a-z]|[A-Z]/g, (letter) =>
    letter >= 'a' ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

const questions = {
  alpha: /^\p{L}+$/u,
  alnum: /^[\p{L}\p{Nd}]+$/u,
  digit: /^\p{Nd}+$/u,
  decimal: /^\p{Nd}+$/u,
  numeric: /^\p{Nd}+$/u,
  space: new RegExp(`^[${pythonSpace}]+$`),
} as const;

/** Python's `text.isalpha()` and its like. @throws Unsupported for numbers of which Python alone knows the kind */
export function isOf(
  question: keyof typeof questions | 'lower' | 'upper' | 'title' | 'ascii',
  text: string,
): boolean {
  switch (question) {
    case 'ascii':
      return /^\p{ASCII}*$/u.test(text);
    case 'lower':
      return /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
    case 'upper':
      return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
    case 'title':
      return isTitle(text);
    case 'alpha':
    case 'alnum':
    case 'digit':
    case 'decimal':
    case 'numeric':
    case 'space': {
      const isNumber = ['alnum', 'digit', 'numeric'].includes(question);
      // Superscripts are digits, and ideographs may be numbers.
      if (
        (isNumber && /[\p{No}\p{Nl}]/u.test(text)) ||
        (question === 'numeric' && /\p{Lo}/u.test(text))
      )
        throw new Unsupported(`is${question} of ${JSON.stringify(text)}`);
      return questions[question].test(text);
    }
    default:
      return unreachable(question);
  }
}

function isTitle(text: string): boolean {
  let [isInside, isAny] = [false, false];
  for (const symbol of text) {
    const isCapital = /[\p{Uppercase}\p{Lt}]/u.test(symbol);
    const isSmall = /\p{Lowercase}/u.test(symbol);
    if ((isCapital && isInside) || (isSmall && !isInside)) return false;
    isInside = isCapital || isSmall;
    isAny ||= isInside;
  }
  return isAny;
}
