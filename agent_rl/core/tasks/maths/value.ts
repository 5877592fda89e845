import { type Fraction, fraction, plus, times } from '../fraction.ts';
import {
  add,
  type Atom,
  atomPower,
  constant,
  multiply,
  one,
  type Polynomial,
  polynomialKey,
  rationalOf,
} from './polynomial.ts';
import { type Budget, Undecided } from './undecided.ts';

/** An expression as a quotient of polynomials; the lower one is not 0. */
export interface Value {
  readonly above: Polynomial;
  readonly below: Polynomial;
}

export const ofPolynomial = (above: Polynomial): Value => ({ above, below: one });
export const ofNumber = (value: Fraction): Value => ofPolynomial(constant(value));
export const ofInteger = (value: bigint): Value => ofNumber(fraction(value));
export const ofAtom = (budget: Budget, atom: Atom, exponent: Fraction): Value =>
  exponent.numerator < 0n
    ? inverse(budget, ofAtom(budget, atom, times(exponent, fraction(-1n))))
    : ofPolynomial(atomPower(budget, atom, exponent));

export const product = (budget: Budget, a: Value, b: Value): Value =>
  lowest(budget, multiply(budget, a.above, b.above), multiply(budget, a.below, b.below));

export function sum(budget: Budget, a: Value, b: Value): Value {
  const left = multiply(budget, a.above, b.below);
  const right = multiply(budget, b.above, a.below);
  return lowest(budget, add(budget, left, right), multiply(budget, a.below, b.below));
}

export const negative = (budget: Budget, value: Value): Value =>
  product(budget, ofInteger(-1n), value);

/** @throws Undecided for the inverse of 0 */
export const inverse = (budget: Budget, { above, below }: Value): Value =>
  lowest(budget, below, above);

/** Multiplies both so that the first term below has no coefficient, and no root where it is the only one: a number below is 1. */
function lowest(budget: Budget, above: Polynomial, below: Polynomial): Value {
  const [[, first] = [undefined, undefined]] = [...below].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (first === undefined) throw new Undecided('It divides by 0.');
  const { numerator, denominator } = first.coefficient;
  const root = below.size === 1 && first.powers.find(({ atom }) => atom.base !== undefined);
  if (!root && numerator === denominator) return { above, below };
  const by = root
    ? atomPower(budget, root.atom, plus(fraction(1n), times(root.exponent, fraction(-1n))))
    : constant(fraction(denominator, numerator));
  return lowest(budget, multiply(budget, above, by), multiply(budget, below, by));
}

/** The rational number that a value is, or `undefined`. */
export function numberOf({ above, below }: Value): Fraction | undefined {
  const [top, under] = [rationalOf(above), rationalOf(below)];
  return (
    top && under && fraction(top.numerator * under.denominator, top.denominator * under.numerator)
  );
}

/** The text of a value. Equal ones have the same text, but for quotients by what is not a number. */
export const valueKey = ({ above, below }: Value): string =>
  rationalOf(below) === undefined
    ? `(${polynomialKey(above)})/(${polynomialKey(below)})`
    : polynomialKey(above);

/** Whether two values are the same; `undefined` where an identity that is unknown here could make them so. */
export function sameValue(budget: Budget, a: Value, b: Value): boolean | undefined {
  const { above } = sum(budget, a, negative(budget, b));
  if (above.size === 0) return true;
  const opaque = [...above.values()].some(({ powers }) => powers.some(({ atom }) => atom.opaque));
  return opaque ? undefined : false;
}
