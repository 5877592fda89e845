import { markedText } from './marked-text.ts';
import { type Answer, readAnswer } from './maths/read-answer.ts';

/** Words that say a number is near it, and letters that may stand for thousands and more. */
const near = /^\W*(?:about|approx|approximately|roughly)(?!\p{L})|\\approx/iu;
const shortened = /^\W*[\d.,]+\s?(?:[kKMB]|bn|mn|tn)\W*$/u;

/**
 * The number or expression that a label is, marked or as a whole; it may have a unit.
 *
 * @returns `undefined` for a number among other words and for what cannot be decided: none of its numbers is it
 */
export function readLabel(text: string): Answer | undefined {
  const label = markedText(text) ?? text;
  return near.test(label) || shortened.test(label) ? undefined : readAnswer(label);
}
