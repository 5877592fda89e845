import { fraction } from '../fraction.ts';
import type { Answer, Several, Single } from './read-answer.ts';
import { Budget, Undecided } from './undecided.ts';
import { ofNumber, product, sameValue, type Value, valueKey } from './value.ts';

/**
 * Whether two answers are the same: numbers and expressions by their exact value, lists between brackets item by item,
 * sets in any order. A percentage is the same as its number and as a hundredth of it.
 *
 * @returns `undefined` where that cannot be decided
 */
export function sameAnswer(a: Answer, b: Answer): boolean | undefined {
  try {
    return same(new Budget(), a, b);
  } catch (error) {
    if (error instanceof Undecided) return undefined;
    throw error;
  }
}

const isSingle = (answer: Answer): answer is Single => 'value' in answer;

function same(budget: Budget, a: Answer, b: Answer): boolean | undefined {
  if (isSingle(a) && isSingle(b)) return sameSingle(budget, a, b);
  if (isSingle(a) || isSingle(b) || a.kind !== b.kind) return undefined;
  return a.kind === 'set' || a.kind === 'union'
    ? all([...within(budget, a, b), ...within(budget, b, a)])
    : a.items.length === b.items.length &&
        all(a.items.map((item, i) => same(budget, item, b.items[i] as Answer)));
}

function sameSingle(budget: Budget, a: Single, b: Single): boolean | undefined {
  if (a.kind !== b.kind) return undefined;
  if (a.name !== undefined && b.name !== undefined && a.name !== b.name) return false;
  return any(
    readings(budget, a, b).flatMap((left) =>
      readings(budget, b, a).map((right) => sameValue(budget, left, right)),
    ),
  );
}

/** The values that a percentage may have beside an answer that is not a percentage. */
const readings = (budget: Budget, { value, percent }: Single, other: Single): readonly Value[] =>
  percent && !other.percent
    ? [value, product(budget, value, ofNumber(fraction(1n, 100n)))]
    : [value];

/** Of each item of one, whether another holds it. */
const within = (budget: Budget, { items }: Several, other: Several): (boolean | undefined)[] =>
  items.map((item) => any(other.items.map((one) => same(budget, item, one))));

function any(found: readonly (boolean | undefined)[]): boolean | undefined {
  return found.includes(true) || (found.includes(undefined) ? undefined : false);
}

function all(found: readonly (boolean | undefined)[]): boolean | undefined {
  return !found.includes(false) && (found.includes(undefined) ? undefined : true);
}

/** The text of an answer, the same for equal ones as far as `valueKey` tells. */
export function answerText(answer: Answer): string {
  if (isSingle(answer)) return `${answer.kind === 'equation' ? '0=' : ''}${valueKey(answer.value)}`;
  const items = answer.items.map(answerText);
  const ordered =
    answer.kind === 'set' || answer.kind === 'union' ? [...new Set(items)].toSorted() : items;
  return `${answer.kind} ${ordered.join(', ')}`;
}
