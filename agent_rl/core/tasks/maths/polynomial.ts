import { type Fraction, floorOf, fraction, fractionKey, plus, times } from '../fraction.ts';
import type { Budget } from './undecided.ts';

/** What is not a rational number: a variable, the root of a prime number, or a function of an expression. */
export interface Atom {
  readonly name: string;
  /** What its whole powers are, such as 2 where the atom is 2 and its power 1/2 stands for the root. */
  readonly base?: Polynomial;
  /** Whether unequal polynomials in it may stand for equal values, since identities of it are unknown here. */
  readonly opaque?: boolean;
}

interface Power {
  readonly atom: Atom;
  readonly exponent: Fraction;
}

/** A rational number times powers of atoms, sorted by name; exponents are positive. */
export interface Term {
  readonly coefficient: Fraction;
  readonly powers: readonly Power[];
}

/** Terms by their powers; none for 0. */
export type Polynomial = ReadonlyMap<string, Term>;

const keyOf = (powers: readonly Power[]): string =>
  powers
    .map(({ atom, exponent }) => {
      const shown = fractionKey(exponent);
      return shown === '1' ? atom.name : `${atom.name}^${shown}`;
    })
    .join('*');

/** One term, or 0. */
export const ofTerm = (coefficient: Fraction, powers: readonly Power[] = []): Polynomial =>
  new Map(coefficient.numerator === 0n ? [] : [[keyOf(powers), { coefficient, powers }]]);

export const constant = (value: Fraction): Polynomial => ofTerm(value);
export const one = constant(fraction(1n));

/** The rational number that a polynomial is, or `undefined`. */
export function rationalOf(polynomial: Polynomial): Fraction | undefined {
  if (polynomial.size === 0) return fraction(0n);
  return polynomial.size === 1 ? polynomial.get('')?.coefficient : undefined;
}

/** The text of a polynomial, the same for equal ones: of a number, the number. */
export const polynomialKey = (polynomial: Polynomial): string =>
  [...polynomial]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { coefficient }]) => `${fractionKey(coefficient)}${key && '*'}${key}`)
    .join('+') || '0';

export function add(budget: Budget, a: Polynomial, b: Polynomial): Polynomial {
  budget.spend(a.size + b.size);
  const sum = new Map(a);
  for (const [key, { coefficient, powers }] of b) {
    const total = plus(sum.get(key)?.coefficient ?? fraction(0n), coefficient);
    budget.number(total.numerator, total.denominator);
    if (total.numerator === 0n) sum.delete(key);
    else sum.set(key, { coefficient: total, powers });
  }
  return sum;
}

export function multiply(budget: Budget, a: Polynomial, b: Polynomial): Polynomial {
  let product: Polynomial = new Map();
  for (const left of a.values())
    for (const right of b.values())
      product = add(budget, product, multiplyTerms(budget, left, right));
  return product;
}

function multiplyTerms(budget: Budget, a: Term, b: Term): Polynomial {
  const coefficient = times(a.coefficient, b.coefficient);
  budget.number(coefficient.numerator, coefficient.denominator);
  const exponents = new Map<string, Power>();
  for (const { atom, exponent } of [...a.powers, ...b.powers]) {
    const before = exponents.get(atom.name)?.exponent ?? fraction(0n);
    exponents.set(atom.name, { atom, exponent: plus(before, exponent) });
  }
  return reduced(budget, coefficient, [...exponents.values()]);
}

/** A term in which no atom that has a base has a whole power. */
function reduced(budget: Budget, coefficient: Fraction, powers: readonly Power[]): Polynomial {
  let factors = one;
  const rest: Power[] = [];
  for (const { atom, exponent } of powers) {
    const whole = atom.base === undefined ? 0n : floorOf(exponent);
    if (atom.base !== undefined && whole > 0n)
      factors = multiply(budget, factors, raise(budget, atom.base, whole));
    const left = plus(exponent, fraction(-whole));
    if (left.numerator !== 0n) rest.push({ atom, exponent: left });
  }
  const term = ofTerm(
    coefficient,
    rest.toSorted((x, y) => (x.atom.name < y.atom.name ? -1 : 1)),
  );
  return factors === one ? term : multiply(budget, factors, term);
}

/** A positive power of an atom. */
export const atomPower = (budget: Budget, atom: Atom, exponent: Fraction): Polynomial =>
  reduced(budget, fraction(1n), [{ atom, exponent }]);

/** A whole power that is not negative. */
export function raise(budget: Budget, base: Polynomial, exponent: bigint): Polynomial {
  budget.number(exponent);
  if (exponent === 0n) return one;
  const half = raise(budget, base, exponent / 2n);
  const square = multiply(budget, half, half);
  return exponent % 2n === 0n ? square : multiply(budget, square, base);
}
