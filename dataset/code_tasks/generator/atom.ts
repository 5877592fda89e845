/** What the little programs compute with. */
export type Scalar = number | string;
export type Value = Scalar | readonly Scalar[];

/** What an atom computes; a method's type, so that atoms of narrower types fit in one table. */
export type Run<Input, Output, K> = { run(input: Input, k: K): Output }['run'];

/** Digits 2 to 9, few 2 to 4, sizes (of words) 3 to 5, or a common letter. */
export type ParameterKind = 'digit' | 'few' | 'size' | 'letter';

/** The smallest part of a task: one thing to do, how to ask for it, how to write it and how to get it wrong. */
export interface Atom<Input = Value, Output = Value | boolean, K extends Scalar = Scalar> {
  /** Ways to ask for it; `{k}` is the parameter, `{show}` is print or return. */
  phrases: readonly string[];
  /** The same in a plan, in a few words. */
  plan: string;
  /** What `{k}` is; none means the atom takes no parameter. */
  parameter?: ParameterKind;
  /** The teacher mostly gets it wrong. */
  tricky?: true;
  /**
   * Ways to write it in Python, and the same in JavaScript: the right one first, then habitual slips, the commonest
   * first. `{k}` is the parameter, `{in}` the list worked on; elements are named `x`.
   */
  ways: Readonly<Record<string, Run<Input, Output, K>>>;
}

/** The value as a list. @throws TypeError for anything else, a mistake in a family's table. */
export function asList(value: unknown): readonly Scalar[] {
  if (Array.isArray(value)) return value.map(asScalar);
  throw new TypeError(`Expected a list, got ${JSON.stringify(value)}.`);
}

/** The value as a number or text. @throws TypeError for anything else, a mistake in a family's table. */
export function asScalar(value: unknown): Scalar {
  if (typeof value === 'number' || typeof value === 'string') return value;
  throw new TypeError(`Expected a number or text, got ${JSON.stringify(value)}.`);
}

/** Thrown where Python would raise. */
export class PythonRaises extends Error {
  override readonly name = 'PythonRaises';
}

/** Python's `%` on whole numbers: the result has the divisor's sign. */
export const modulo = (a: number, b: number): number => a - b * Math.floor(a / b);

/** What the programs print: the elements of a list with spaces between them. */
export const printed = (value: Value): string =>
  Array.isArray(value) ? value.join(' ') : String(value);
