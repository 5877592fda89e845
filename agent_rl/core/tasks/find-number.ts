import { type Fraction, parseFraction } from './fraction.ts';

/** A number that is not part of a word, of a longer number, of a version or of a time. */
const number =
  /(?<![\p{L}\p{N}_])(?<!\d[.,/:])(?:(?<![\p{L}\p{N}_)])[-+])?[$€£¥]?(?:\d{1,3}(?:,\d{3})+|\d+|(?<!\d)(?=\.\d))(?:\.\d+)?(?:\/\d+)?(?![.,/:]?\d)/gu;

/** Takes out of LaTeX and Unicode what stands around and inside numbers. */
const plain = (text: string): string =>
  text
    .replaceAll('\u2212', '-')
    .replaceAll(/\\(?:left|right|displaystyle|[,!;: ])/gu, '')
    .replaceAll('{,}', ',')
    .replaceAll(/\\([$%])/gu, '$1')
    .replaceAll(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/gu, '$1/$2')
    .replaceAll(/\\[dt]?frac\s*(\d)\s*(\d)/gu, '$1/$2')
    .replaceAll(/(?<=\d)\s*\/\s*(?=\d)/gu, '/');

const numbersIn = (text: string): readonly Fraction[] =>
  [...plain(text).matchAll(number)].flatMap(([found]) => parseFraction(found) ?? []);

/** What stands between the braces of the last `\boxed{…}`, braces inside it in pairs. */
function lastBoxed(text: string): string | undefined {
  const opening = '\\boxed{';
  const start = text.lastIndexOf(opening);
  if (start === -1) return undefined;
  let depth = 1;
  for (let end = start + opening.length; end < text.length; end++) {
    if (text[end] === '{') depth += 1;
    if (text[end] === '}') depth -= 1;
    if (depth === 0) return text.slice(start + opening.length, end);
  }
  return undefined;
}

/** What stands on the line behind the last `####`, or else behind the last "answer is" or "answer:". */
function lastSaid(text: string): string | undefined {
  const hashes = text.lastIndexOf('####');
  if (hashes !== -1) return text.slice(hashes + 4).split('\n', 1)[0];
  const said = [...text.matchAll(/\banswer(?:\s+is|\s*[:=])(?<rest>[^\n]*)/giu)].at(-1);
  return said?.groups?.['rest'];
}

/** What a text marks as its answer: in the last `\boxed{…}`, behind the last `####` or behind the last "answer is". */
export const markedText = (text: string): string | undefined => lastBoxed(text) ?? lastSaid(text);

/**
 * The number a text gives as its answer: the last one in the last `\boxed{…}`, or else behind the last `####`, or
 * else the first one behind the last "answer is" or "answer:". Units and a percent sign do not count.
 *
 * @returns `undefined` when a mark holds no number, or nothing is marked.
 */
export function markedNumber(text: string): Fraction | undefined {
  const boxed = lastBoxed(text);
  return boxed === undefined ? numbersIn(lastSaid(text) ?? '')[0] : numbersIn(boxed).at(-1);
}

const lastNumber = (text: string): Fraction | undefined => numbersIn(text).at(-1);

const marks = /\\boxed\{|####/u;

/** The marked number or, where nothing is boxed or behind `####`, the last one. */
export const answeredNumber = (text: string): Fraction | undefined =>
  markedNumber(text) ?? (marks.test(text) ? undefined : lastNumber(text));
