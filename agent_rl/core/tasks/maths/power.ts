import { type Fraction, fraction, times } from '../fraction.ts';
import {
  type Atom,
  atomPower,
  constant,
  multiply,
  ofTerm,
  one,
  type Polynomial,
  polynomialKey,
  raise,
} from './polynomial.ts';
import { type Budget, Undecided } from './undecided.ts';
import {
  inverse,
  numberOf,
  ofAtom,
  ofInteger,
  ofPolynomial,
  product,
  type Value,
} from './value.ts';

const unit = fraction(1n);
const half = fraction(1n, 2n);
const largestDivisor = 10_000n;

/** The imaginary unit, the root of -1. */
export const imaginary = (budget: Budget): Value =>
  ofAtom(budget, root(constant(fraction(-1n)), '-1'), half);

const root = (base: Polynomial, name: string): Atom => ({ name, base });

/** The prime factors of a positive number with their powers. */
export function primesOf(budget: Budget, number: Fraction): readonly (readonly [bigint, bigint])[] {
  const factors = (size: bigint, sign: bigint): [bigint, bigint][] => {
    const found: [bigint, bigint][] = [];
    let left = size;
    for (let prime = 2n; prime * prime <= left; prime += prime === 2n ? 1n : 2n) {
      if (prime > largestDivisor) throw new Undecided('A number under a root has large factors.');
      let count = 0n;
      for (; left % prime === 0n; left /= prime) count += sign;
      if (count !== 0n) found.push([prime, count]);
    }
    budget.spend(100);
    return left === 1n ? found : [...found, [left, sign]];
  };
  return [...factors(number.numerator, 1n), ...factors(number.denominator, -1n)];
}

/** `base` to the power of `exponent`. */
export function power(budget: Budget, base: Value, exponent: Value): Value {
  const number = numberOf(exponent);
  if (number === undefined) return symbolicPower(budget, base, exponent);
  if (number.numerator < 0n)
    return inverse(
      budget,
      power(budget, base, ofPolynomial(constant(times(number, fraction(-1n))))),
    );
  if (number.denominator !== 1n) return rootOf(budget, base, number);
  if (number.numerator === 0n && base.above.size === 0)
    throw new Undecided('0 to the power of 0 has no value.');
  const over = ofPolynomial(raise(budget, base.above, number.numerator));
  const under = ofPolynomial(raise(budget, base.below, number.numerator));
  return product(budget, over, inverse(budget, under));
}

/** A positive power that is no integer. What is positive is drawn out; identities that hold for some numbers alone are not used. */
function rootOf(budget: Budget, base: Value, exponent: Fraction): Value {
  if (base.above.size === 0) return base;
  const over = positivePart(budget, base.above, exponent);
  const under = positivePart(budget, base.below, exponent);
  if (under.rest !== one) throw new Undecided('A quotient of variables is under a root.');
  const drawn = product(budget, over.drawn, inverse(budget, under.drawn));
  if (over.rest === one) return drawn;
  return product(budget, drawn, ofPolynomial(restPower(budget, over.rest, exponent)));
}

function restPower(budget: Budget, rest: Polynomial, exponent: Fraction): Polynomial {
  const [term] = rest.values();
  const isMinus = rest.size === 1 && term?.powers.length === 0;
  if (isMinus && exponent.denominator !== 2n)
    throw new Undecided('A negative number is under a root.');
  if (isMinus) return atomPower(budget, root(rest, '-1'), exponent);
  const [only, ...others] = term?.powers ?? [];
  const isVariable =
    rest.size === 1 &&
    others.length === 0 &&
    only?.atom.base === undefined &&
    only?.exponent.numerator === only?.exponent.denominator &&
    term?.coefficient.numerator === 1n;
  if (isVariable && only !== undefined) return atomPower(budget, only.atom, exponent);
  return atomPower(
    budget,
    { name: `(${polynomialKey(rest)})`, base: rest, opaque: true },
    exponent,
  );
}

const isPrime = ({ name }: Atom): boolean => /^\d+$/.test(name);

/** Splits a polynomial into the power of its positive numbers and what is left of it, which is `one` where that is 1. */
function positivePart(
  budget: Budget,
  polynomial: Polynomial,
  exponent: Fraction,
): { drawn: Value; rest: Polynomial } {
  const terms = [...polynomial.values()];
  let content = terms[0]?.coefficient ?? unit;
  for (const { coefficient } of terms) content = commonDivisor(content, coefficient);
  let drawn = ofInteger(1n);
  for (const [prime, count] of primesOf(budget, content)) {
    const atom = root(constant(fraction(prime)), String(prime));
    drawn = product(budget, drawn, ofAtom(budget, atom, times(fraction(count), exponent)));
  }
  let rest = multiply(
    budget,
    polynomial,
    constant(fraction(content.denominator, content.numerator)),
  );
  const [only] = terms;
  if (terms.length === 1 && only !== undefined) {
    rest = constant(fraction(only.coefficient.numerator < 0n ? -1n : 1n));
    for (const { atom, exponent: own } of only.powers)
      if (isPrime(atom)) drawn = product(budget, drawn, ofAtom(budget, atom, times(own, exponent)));
      else rest = multiply(budget, rest, atomPower(budget, atom, own));
  }
  return { drawn, rest: polynomialKey(rest) === polynomialKey(one) ? one : rest };
}

/** The largest positive number of which two are whole multiples. */
function commonDivisor(a: Fraction, b: Fraction): Fraction {
  let [x, y] = [a.numerator * b.denominator, b.numerator * a.denominator];
  while (y !== 0n) [x, y] = [y, x % y];
  return fraction(x < 0n ? -x : x, a.denominator * b.denominator);
}

/** A power whose exponent is no rational number: of a positive number or one variable, term by term of the exponent. */
function symbolicPower(budget: Budget, base: Value, exponent: Value): Value {
  if (exponent.below.size !== 1 || !exponent.below.has(''))
    throw new Undecided('An exponent is a quotient.');
  let result = ofInteger(1n);
  for (const { coefficient, powers } of exponent.above.values()) {
    const whole = powers.length === 0;
    const key = polynomialKey(ofTerm(unit, powers));
    for (const [name, count] of factorsOf(budget, base)) {
      const atom: Atom = { name: `${name}^[${key}]`, opaque: true };
      const plain: Atom = /^\d+$/.test(name)
        ? root(constant(fraction(BigInt(name))), name)
        : { name };
      result = product(
        budget,
        result,
        ofAtom(budget, whole ? plain : atom, times(coefficient, fraction(count))),
      );
    }
  }
  return result;
}

function factorsOf(budget: Budget, base: Value): readonly (readonly [string, bigint])[] {
  const number = numberOf(base);
  if (number !== undefined) {
    if (number.numerator <= 0n) throw new Undecided('The base of a power is not positive.');
    return primesOf(budget, number).map(([prime, count]) => [String(prime), count]);
  }
  const [term, ...others] = base.above.values();
  const [only, ...more] = term?.powers ?? [];
  const plain =
    base.below === one &&
    others.length === 0 &&
    more.length === 0 &&
    only?.atom.base === undefined &&
    only?.exponent.numerator === only?.exponent.denominator;
  if (
    !plain ||
    only === undefined ||
    term?.coefficient.numerator !== 1n ||
    term.coefficient.denominator !== 1n
  )
    throw new Undecided('The base of a power is neither a number nor a single variable.');
  return [[only.atom.name, 1n]];
}
