import type { Fraction } from './fraction.ts';
import { lastBoxed, lastSaid, longest } from './marked-text.ts';
import { type Answer, answerNumber, readAnswer } from './maths/read-answer.ts';
import {
  between,
  changing,
  counting,
  denying,
  following,
  harmless,
  isUnit,
  joining,
  leading,
  linking,
  negating,
  turning,
} from './maths/words.ts';

/** An answer; `undecided` if a text has one that cannot be read, `undefined` if it has no answer. */
export type Given = Answer | 'undecided' | undefined;

/** Mathematics between LaTeX's delimiters: `$…$` with spaces inside it is money. */
const segment =
  /\\\((?<round>[^\n]+?)\\\)|\\\[(?<square>.+?)\\\]|\$\$(?<display>.+?)\$\$|(?<!\\)\$(?=\S)(?<inline>(?:[^$\n\\]|\\.)*(?<!\s))\$(?!\d)/gsu;

/** Ends of sentences, line breaks, bullets and words, but for words that change or join numbers and for functions. */
const boundary =
  /[.,;:!?](?=["'”’)*_]*(?:\s|$))|\n\s*(?:[-•*]\s)?|[—–](?!\s*[\d.$\\])|(?<!\d\s*)…|["“”]|[‘’](?!\d)|(?<!\S)\|(?!\S)|(?<![\p{L}\p{N}\\_^{/-])\p{L}{2,}(?:['’-]\p{L}+)*(?![\p{L}\p{N}_^({\\]|\*\*|\.?[²³])/gu;

/** A text without the marks of bold text; three full stops are one sign. */
const unmarked = (text: string): string =>
  text.replaceAll(/(?<![\w)])(?:\*\*|__)|(?:\*\*|__)(?![\w(])/gu, '').replaceAll('...', '…');

/** Parts of a text that may be a number or an expression, in order. */
function expressionsIn(plain: string): readonly string[] {
  const parts: (string | readonly string[])[] = [];
  let from = 0;
  for (const found of plain.matchAll(segment)) {
    const { round, square, display, inline } = found.groups ?? {};
    parts.push(
      pieces(plain.slice(from, found.index)),
      (round ?? square ?? display ?? inline ?? '').trim(),
    );
    from = found.index + found[0].length;
  }
  return [...parts, pieces(plain.slice(from))]
    .flat()
    .filter((part) => /\p{N}|\\[a-zA-Z]|[π√∞]/u.test(part));
}

/** Two pieces of mathematics that are offered side by side. */
const several = /(?:\$|\\\)|\\\])\s*(?:,|,?\s*(?:or|and)\b)\s*(?:\$|\\\(|\\\[)/iu;

/** Prose cut at its words. */
function pieces(prose: string): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (const { 0: cut, index } of prose.matchAll(boundary)) {
    const before = prose.slice(Math.max(from, index - 200), index);
    const isOpen = /[([][^)\]]*$/u.test(before) && /^[,;]/u.test(cut);
    const ahead = prose.slice(index, index + 40);
    const joins =
      negating.test(ahead) ||
      (/\d/u.test(before) && (joining.test(ahead) || isUnit(between.exec(ahead)?.[1] ?? '')));
    const isFactorial = cut === '!' && !/\p{L}{2}/u.test(prose);
    if (isOpen || joins || isFactorial || (changing.test(cut) && !harmless.test(cut))) continue;
    found.push(prose.slice(from, index));
    from = index + cut.length;
  }
  return [...found, prose.slice(from)].map(trimmed);
}

/** A piece without bullets, punctuation and brackets that belong to the words around it. */
function trimmed(piece: string): string {
  const open = piece.includes(')') ? /^[\s=]+|^[-*•'](?=\s)/u : /^[\s=(]+|^[-*•'](?=\s)/u;
  const close = piece.includes('(') ? /[\s=*.,:;]$/u : /[\s=*.,:;)]$/u;
  let text = piece
    .replace(open, '')
    .replace(/\s+a?\s*$/u, '')
    .trim();
  while (close.test(text)) text = text.slice(0, -1);
  return text;
}

const read = (text: string | undefined): Given =>
  text === undefined ? undefined : (readAnswer(text) ?? 'undecided');

/** A part of prose; where words keep it from being read, what is behind its last equals sign, unless both sides are numbers. */
function readPart(part: string): Given {
  const given = read(part);
  const isRead = given !== 'undecided' && given?.kind !== 'equation';
  if (isRead || !part.includes('=')) return given;
  const [last = '', before = ''] = part.split('=').toReversed();
  return answerNumber(readAnswer(before)) === undefined ? read(last) : 'undecided';
}

/** Where a clause ends that says what the answer is. */
const clauseEnd =
  /[.!?;](?=["'”’)*_]*(?:\s|$))|,?\s(?:because|since|as|so|which|where|when)\s|,\s(?=(?!then|or)\p{L})|\s(?=\((?!\d|mod|base))|\s[-–—]\s(?=\p{L})/u;

/** What takes an answer back, and gives another. */
const correcting =
  /^[^\p{L}\d]*(?:or|no[,:]|no wait|wait|actually|sorry|correction)(?!\p{L})[^\n]*\d/iu;

const clauseOf = (text: string): string => text.split(clauseEnd, 1)[0] ?? '';

/** Whether words behind a number leave it as it is. */
function isHarmless(behind: string): boolean {
  const words = behind.replaceAll(counting, '').match(/\p{L}+/gu) ?? [];
  const next = /^\s*(\p{L}{1,3})(?!\p{L})/u.exec(behind)?.[1];
  const isKnown = next === undefined || isUnit(next) || linking.test(next) || following.test(next);
  return (
    isKnown &&
    !/\d|~~/u.test(behind) &&
    !denying.test(behind) &&
    words.every((word) => !changing.test(word) || harmless.test(word))
  );
}

/** The one number or expression of what stands behind "answer is", among words that cannot change it. */
function readClause(line: string): Given {
  if (several.test(line)) return 'undecided';
  const text = unmarked(line).trim();
  const whole = readAnswer(text.replace(/!\s*$/u, ''));
  if (whole !== undefined) return whole;
  const clause = clauseOf(text);
  const [first] = expressionsIn(text);
  if (first === undefined) return undefined;
  const at = text.indexOf(first);
  const behind = clauseOf(text.slice(at + first.length));
  const said = readAnswer(clause);
  const end = said === undefined ? at + first.length + behind.length : clause.length;
  if (correcting.test(text.slice(end, end + 80))) return 'undecided';
  const before = text.slice(0, at).match(/\p{L}+/gu) ?? [];
  const isPlain = before.every((word) => leading.test(word)) && !text.includes('~~');
  return said ?? (isPlain && isHarmless(behind) ? readPart(first) : 'undecided');
}

/**
 * What a text marks as its answer: all that is in the last `\boxed{…}` or behind the last `####`, or else what the clause
 * behind the last "answer is" or "answer:" says. A unit does not count.
 */
export function markedAnswer(text: string): Given {
  const boxed = lastBoxed(text);
  if (boxed !== undefined || /\\f?box(?:ed)?\s*\{/u.test(text)) return read(boxed ?? '');
  const said = lastSaid(text);
  if (said === undefined) return undefined;
  return text.includes('####') ? read(said) : readClause(said);
}

/** The last number or expression of prose, where the words beside it leave it as it is. */
function lastOf(text: string): Given {
  const plain = unmarked(text);
  const part = expressionsIn(plain).at(-1);
  if (part === undefined) return undefined;
  const at = plain.lastIndexOf(part);
  const behind = clauseOf(plain.slice(at + part.length));
  const isPlain = !turning.test(plain.slice(Math.max(0, at - 60), at).trim());
  return isPlain && isHarmless(behind) ? readPart(part) : 'undecided';
}

/** The marked answer or, where nothing is marked, the last number or expression. */
export const givenAnswer = (text: string): Given =>
  markedAnswer(text) ?? readAnswer(text) ?? lastOf(ending(text));

/** The end of a text, from a space on. */
const ending = (text: string): string =>
  text.length <= longest ? text : text.slice(-longest).replace(/^\S+\s/u, '');

/** The number that a text gives as its answer; `undefined` where that is an expression or cannot be read. */
export function answeredNumber(text: string): Fraction | undefined {
  const given = givenAnswer(text);
  return given === 'undecided' ? undefined : answerNumber(given);
}
