import { markedText } from './find-number.ts';
import { type Answer, readAnswer } from './maths/read-answer.ts';

/**
 * The number or expression that a label is, marked or as a whole; it may have a unit.
 *
 * @returns `undefined` for a number among other words and for what cannot be decided: none of its numbers is it
 */
export const readLabel = (text: string): Answer | undefined => readAnswer(markedText(text) ?? text);
