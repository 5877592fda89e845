import type { Budget } from '../budget.ts';
import { Callable, type Given, type Value } from '../values/value.ts';

/** The arguments of a function by their place; undefined where one is not given. */
export type Bound = readonly (Value | undefined)[];

/** A filter: its parameters as `bind` reads them, and what it does. */
export type Filter = readonly [
  parameters: string,
  apply: (value: Value, bound: Bound, budget: Budget) => Value,
];

/** What has parameters, and what it does with them. */
export const takes = <Apply extends (...given: never) => unknown>(
  parameters: string,
  apply: Apply,
): readonly [string, Apply] => [parameters, apply];

/**
 * Puts arguments in the places of a function's parameters.
 *
 * @param parameters their names with spaces between; `name?` may be left out, and none behind `/` is before it by name
 * @throws TypeError as Python does for arguments that do not fit
 */
export function bind(name: string, parameters: string, { positional, keywords }: Given): Bound {
  const names = parameters.split(' ').filter((part) => part !== '' && part !== '/');
  const places = names.map((part) => part.replace('?', ''));
  const onlyByPlace = parameters.includes('/') ? (parameters.split('/')[0] ?? '') : '';
  if (positional.length > places.length)
    throw new TypeError(
      `${name}() takes ${places.length} arguments, but ${positional.length} were given`,
    );
  const bound: (Value | undefined)[] = places.map((_, i) => positional[i]);
  for (const [keyword, value] of keywords) {
    const place = places.indexOf(keyword);
    if (place < 0 || bound[place] !== undefined || onlyByPlace.split(/[ ?]/).includes(keyword))
      throw new TypeError(`${name}() got an unexpected argument '${keyword}'`);
    bound[place] = value;
  }
  const missing = names.find((part, i) => !part.endsWith('?') && bound[i] === undefined);
  if (missing !== undefined) throw new TypeError(`${name}() is missing the argument '${missing}'`);
  return bound;
}

/** A function of a template. */
export const callable = (
  name: string,
  parameters: string,
  call: (bound: Bound) => Value,
): Callable => new Callable(name, (given) => call(bind(name, parameters, given)));
