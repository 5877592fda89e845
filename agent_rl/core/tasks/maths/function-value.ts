import { fraction } from '../fraction.ts';
import { power, primesOf } from './power.ts';
import { type Budget, Undecided } from './undecided.ts';
import {
  negative,
  numberOf,
  ofAtom,
  ofInteger,
  ofNumber,
  product,
  sum,
  type Value,
  valueKey,
} from './value.ts';

const unit = fraction(1n);

/**
 * A function of an expression is one variable, named by the expression; logarithms of numbers are sums of logarithms of
 * primes.
 */
export function applied(budget: Budget, name: string, given: Value): Value {
  const number = numberOf(given);
  if (name.startsWith('l') && number !== undefined && number.numerator > 0n) {
    let total = ofInteger(0n);
    for (const [prime, count] of primesOf(budget, number)) {
      const atom = ofAtom(budget, { name: `${name}(${prime})`, opaque: true }, unit);
      total = sum(budget, total, product(budget, ofInteger(count), atom));
    }
    return total;
  }
  if (name === 'ln' && valueKey(given) === valueKey(ofAtom(budget, { name: 'e' }, unit)))
    return ofInteger(1n);
  return ofAtom(budget, { name: `${name}(${valueKey(given)})`, opaque: true }, unit);
}

export function absolute(budget: Budget, value: Value): Value {
  const number = numberOf(value);
  if (number !== undefined) return number.numerator < 0n ? negative(budget, value) : value;
  const [first] = [valueKey(value), valueKey(negative(budget, value))].toSorted();
  return ofAtom(budget, { name: `abs(${first})`, opaque: true }, unit);
}

/** The real root of a negative number where the degree is odd. */
export function nthRoot(budget: Budget, radicand: Value, degree: bigint): Value {
  if (degree === 0n) throw new Undecided('The degree of a root is 0.');
  const number = numberOf(radicand);
  const exponent = ofNumber(fraction(1n, degree));
  if (number === undefined || number.numerator >= 0n || degree % 2n === 0n)
    return power(budget, radicand, exponent);
  return negative(budget, power(budget, negative(budget, radicand), exponent));
}

export function binomial(budget: Budget, of: Value, choose: Value): Value {
  const [above, below] = [smallWhole(of), smallWhole(choose)];
  let result = below > above ? 0n : 1n;
  for (let i = 1n; i <= below; i++) {
    result = (result * (above - below + i)) / i;
    budget.number(result);
  }
  return ofInteger(result);
}

export function factorial(budget: Budget, value: Value): Value {
  let result = 1n;
  for (let i = smallWhole(value); i > 1n; i--) {
    result *= i;
    budget.number(result);
  }
  return ofInteger(result);
}

function smallWhole(value: Value): bigint {
  const number = numberOf(value);
  if (number?.denominator !== 1n || number.numerator < 0n || number.numerator > 1000n)
    throw new Undecided('A number is not whole, or too large.');
  return number.numerator;
}
