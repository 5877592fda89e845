import { labelText } from './decimal-text.ts';
import type { Task } from './task.ts';

/*
 * When two written answers are the same answer: the one normalisation that environments, rewards and the checks of
 * datasets share.
 *
 * - Case, compatibility forms (NFKC) and the accents of Latin, Greek and Cyrillic letters do not count.
 * - Punctuation and hyphens separate words, an apostrophe joins them. Chinese, Japanese and Thai characters are words
 *   of their own: these scripts put no spaces between words.
 * - A number counts by value: `1,200.50`, `$1200.5` and `+1200.5` are one, `5%` is `5 percent`. It is found neither
 *   inside another number nor inside a word: `12` is not in `120`, `1.12`, `12:30`, `1/12`, `-12` or `12th`.
 * - An article at the start does not count.
 *
 * Number words and other wordings (`twelve`, `USA`) are for a task's aliases to list.
 */

const spaceless = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const wordCharacter = String.raw`(?![${spaceless}])[\p{L}\p{M}\p{N}]`;

/** A minus is a sign only where a number can begin: `1990-1995` holds none. */
const sign = String.raw`(?<![^\s(\[{"'=:*$€£¥])-[$€£¥]?(?=\.?\d)`;

const piece = new RegExp(
  [
    String.raw`(?<number>(?:${sign})?(?:\d+(?:[./:]\d+)*|(?<![\p{L}\p{N}])\.\d+))(?<unit>(?:${wordCharacter})*)`,
    `(?<character>[${spaceless}])`,
    // C++ and C# are not C.
    String.raw`(?<word>(?:${wordCharacter})+(?:\+\+|#)?)`,
  ].join('|'),
  'gu',
);

const article = /^(?:an?|the) (?=.)/u;

/** The words of a text as they are compared, in order; empty for a text of symbols alone. */
export function answerWords(text: string): string[] {
  const found = plainLetters(text).matchAll(piece);
  return [...found].map(({ 0: whole, groups }) =>
    groups?.['number'] === undefined
      ? whole
      : plainNumber(groups['number']) + (groups['unit'] ?? ''),
  );
}

/** A text as it is compared as a whole: its words, without an article at the start. */
export const answerKey = (text: string): string => answerWords(text).join(' ').replace(article, '');

/** Whether a text is, as a whole, one of the accepted answers. */
export function isAnswer(text: string, accepted: readonly string[]): boolean {
  const key = answerKey(text);
  return key !== '' && accepted.some((answer) => answerKey(answer) === key);
}

/** As `isAnswer`, with one of some openings, such as `It is`, before the answer or nothing. */
export function isAnswerAfter(
  openings: readonly string[],
  text: string,
  accepted: readonly string[],
): boolean {
  if (isAnswer(text, accepted)) return true;
  const words = answerWords(text).join(' ');
  return openings.some((opening) => {
    const lead = `${answerWords(opening).join(' ')} `;
    return lead !== ' ' && words.startsWith(lead) && isAnswer(words.slice(lead.length), accepted);
  });
}

/** A text as it is compared as a whole, without one of some openings. */
export function answerKeyAfter(openings: readonly string[], text: string): string {
  const words = answerWords(text).join(' ');
  const lead = openings
    .map((opening) => `${answerWords(opening).join(' ')} `)
    .find((start) => start !== ' ' && words.startsWith(start));
  return answerKey(words.slice(lead?.length ?? 0));
}

/** Whether a text contains one of the accepted answers as a run of whole words. */
export function mentionsAnswer(text: string, accepted: readonly string[]): boolean {
  const words = ` ${answerWords(text).join(' ')} `;
  return accepted.some((answer) => {
    const key = answerKey(answer);
    return key !== '' && words.includes(` ${key} `);
  });
}

/** Letters that a word and its inflection may differ by at the end, and the fewest they must share. */
const mostEnding = 3;
const leastStem = 4;

const isWordForm = (word: string, other: string): boolean => {
  if (word === other) return true;
  const [shorter, longer] = word.length < other.length ? [word, other] : [other, word];
  return (
    shorter.length >= leastStem &&
    longer.length - shorter.length <= mostEnding &&
    longer.startsWith(shorter) &&
    !/\p{N}/u.test(longer)
  );
};

/**
 * Whether a text holds an accepted answer as a run of whole words or of their forms: an index of stems finds the same
 * by `Pelrinas` and `Pelrina's` as by `Pelrina`. Wider than `mentionsAnswer`, and for guards alone.
 */
export function hintsAtAnswer(text: string, accepted: readonly string[]): boolean {
  const words = answerWords(text);
  return accepted.some((answer) => {
    const wanted = answerKey(answer)
      .split(' ')
      .filter((word) => word !== '');
    return (
      wanted.length > 0 &&
      words.some((_, start) => wanted.every((word, i) => isWordForm(word, words[start + i] ?? '')))
    );
  });
}

function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036F\u200B-\u200D\u2060\uFEFF]/gu, '')
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2012\u2212]/gu, '-')
    .replaceAll('\u2044', '/')
    .replaceAll(/(?<=[\p{L}\p{N}])['’](?=\p{L})/gu, '')
    .replaceAll(/(?<![\p{L}\p{N}.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)/gu, (digits) =>
      digits.replaceAll(',', ''),
    )
    .replaceAll('%', ' percent ');
}

/** A number without what does not change its value; text with several separators, such as a version, as it is. */
function plainNumber(written: string): string {
  const [, minus = '', whole = '', decimals = ''] =
    /^(-?)[$€£¥]?(\d*)(?:\.(\d+))?$/u.exec(written) ?? [];
  if (whole === '' && decimals === '') return written;
  const integer = whole.replace(/^0+(?=\d)/u, '') || '0';
  const fraction = decimals.replace(/0+$/u, '');
  const value = fraction === '' ? integer : `${integer}.${fraction}`;
  return minus !== '' && value !== '0' ? `-${value}` : value;
}

/** A task that has its answer: `answer` and, optionally, `aliases`, on the task itself or in its metadata. */
interface Answered {
  readonly answer?: unknown;
  readonly aliases?: unknown;
}

const isText = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** The answers that count as right, the first one first; empty for a task that names none. */
export function acceptedAnswers(task: Task): readonly string[] {
  const { answer, aliases } = isText((task as Answered).answer)
    ? (task as Answered)
    : (task.metadata as Answered);
  const others: readonly unknown[] = Array.isArray(aliases) ? aliases : [];
  return [answer, ...others].filter(isText).map(labelText);
}
