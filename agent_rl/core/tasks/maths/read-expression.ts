import { decimalText } from '../decimal-text.ts';
import { type Fraction, fraction, plus } from '../fraction.ts';
import { imaginary, power, primesOf } from './power.ts';
import { type Budget, Undecided } from './undecided.ts';
import {
  inverse,
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
import { isUnit, isWord } from './words.ts';

const unit = fraction(1n);
const deepest = 50;

const greek =
  'alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|pi|ell';
const functions = 'arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|lg|exp';

const decimal = String.raw`(?:\d{1,3}(?:,\d{3})+(?![\d])|\d{1,3}(?: \d{3})+(?!\d)|\d+)?(?:\.\d+)?`;
const at = {
  mixed: /(\d+)(?: +([1-9]\d*)\/(\d+)(?![\d/])| *\\frac *(?:(\d) *(\d)|\{ *(\d+) *\} *\{ *(\d+) *\}))/uy,
  repeating: /(\d*)\.(\d*)\\overline *\{ *(\d+) *\}/uy,
  decimal: new RegExp(String.raw`(?=\.?\d)(${decimal})(?:[eE]([-+]?\d{1,4})(?!\d))?`, 'uy'),
  letters: /[A-Za-z]+/uy,
  plainFunction: new RegExp(`(${functions}|sqrt)(?= *[({])|(sqrt)(?=\\d)|(pi|theta|alpha|beta)(?![A-Za-z])`, 'uy'),
  functionName: new RegExp(`\\\\(${functions})(?![a-zA-Z])`, 'uy'),
  greek: new RegExp(`\\\\(?:${greek})(?![a-zA-Z])`, 'uy'),
  subscript: / *_ *(?:\{ *([A-Za-z0-9]+) *\}|([A-Za-z0-9]))/uy,
  bold: /\\(?:textbf|mathbf|boldsymbol|bm|mathit|mathrm|text|boxed|fbox|textit)(?= *\{ *[-+]?(?:\d|[a-zA-Z] *\}))/uy,
};

/** Reads one expression at a time off a text, as an exact value; what it does not know it refuses. */
export class ExpressionReader {
  #at = 0;
  #depth = 0;
  /** Whether a plus-minus was read; it stands for `sign`. */
  plusMinus = false;
  /** Brackets of lists that are open: a comma may then separate numbers. */
  brackets = 0;

  constructor(
    readonly text: string,
    readonly budget: Budget,
    readonly sign: 1n | -1n,
  ) {}

  get place(): number {
    return this.#at;
  }
  /** Goes back to where a list may begin. */
  set place(at: number) {
    this.#at = at;
    this.#depth = 0;
  }

  /** Takes what stands next, after spaces, if it matches. */
  take(expression: RegExp): RegExpExecArray | undefined {
    while (this.text[this.#at] === ' ' || this.text[this.#at] === '\n') this.#at++;
    expression.lastIndex = this.#at;
    const found = expression.exec(this.text);
    if (found === null) return undefined;
    this.#at = expression.lastIndex;
    return found;
  }

  next(expression: RegExp): boolean {
    const before = this.#at;
    const found = this.take(expression) !== undefined;
    this.#at = before;
    return found;
  }

  need(expression: RegExp): void {
    if (!this.take(expression)) throw new Undecided(`${expression.source} is missing at ${this.#at}.`);
  }

  /** A sum, up to what cannot be part of one. */
  sum(): Value {
    let total = this.#signed();
    for (;;) {
      if (!this.next(/[-+]|\\pm(?![a-z])|\\mp(?![a-z])/uy)) return total;
      total = sum(this.budget, total, this.#signed());
    }
  }

  #signed(): Value {
    this.take(/(?:\\?\$|[€£¥])(?= *[-+])/uy);
    const sign = this.take(/[-+]|\\pm(?![a-z])|\\mp(?![a-z])/uy)?.[0];
    const value = this.#product();
    const signs: Record<string, bigint> = { '-': -1n, '\\pm': this.sign, '\\mp': -this.sign };
    if (sign?.startsWith('\\')) this.plusMinus = true;
    const by = signs[sign ?? '+'] ?? 1n;
    return by === 1n ? value : negative(this.budget, value);
  }

  #product(): Value {
    let value = this.#factor();
    let divided = false;
    for (;;) {
      this.budget.spend(1);
      if (this.take(/\*(?!\*)|\\times(?![a-z])|\\cdot(?![a-z])/uy)) {
        value = product(this.budget, value, this.#factor());
      } else if (this.take(/\/|\\div(?![a-z])/uy)) {
        if (divided) throw new Undecided('It divides twice.');
        divided = true;
        value = product(this.budget, value, inverse(this.#factor()));
      } else if (this.#atFactor()) {
        if (divided) throw new Undecided('What is divided by is not clear.');
        value = product(this.budget, value, this.#factor());
      } else return value;
    }
  }

  /** Whether what follows multiplies without a sign. */
  #atFactor(): boolean {
    if (this.next(/\(|\{|\\(?:frac|sqrt|binom)(?![a-z])/uy)) return true;
    if (this.next(at.greek) || this.next(at.functionName) || this.next(at.plainFunction)) return true;
    if (this.next(/\.?\d|\\\{/uy)) throw new Undecided('A number follows what it is not part of.');
    return this.next(at.bold) || (this.next(at.letters) && !this.atUnit());
  }

  /** Whether a word or a letter that stands behind a number is a unit. */
  atUnit(): boolean {
    const before = this.#at;
    const word = this.take(at.letters)?.[0] ?? '';
    const apart = /\s/u.test(this.text[this.#at - word.length - 1] ?? '');
    const rest = this.text.slice(this.#at, this.#at + 8);
    this.#at = before;
    if (word.length === 1) {
      const follows = /[\d.]\s+$/u.test(this.text.slice(Math.max(0, before - 20), this.text.indexOf(word, before)));
      return follows && /[mgslLhJNWVAKCF]/u.test(word) && /^(?:\^\{?-?\d\}?)?\s*(?:$|[\/,.;)])/u.test(rest);
    }
    if (isUnit(word)) return true;
    if (apart && isWord(word)) throw new Undecided(`${word} is a word that is not known.`);
    return false;
  }

  #factor(): Value {
    const sign = this.take(/[-+]/uy)?.[0];
    const value = this.#powered();
    return sign === '-' ? negative(this.budget, value) : value;
  }

  #powered(): Value {
    let value = this.#atom();
    if (this.take(/!(?!=)/uy)) value = ofInteger(factorial(this.budget, value));
    if (this.take(/\^|\*\*/uy)) value = power(this.budget, value, this.#exponent());
    if (this.next(/\^|!|\*\*|_/uy)) throw new Undecided('A power of a power without brackets.');
    return value;
  }

  #exponent(): Value {
    const sign = this.take(/[-+]/uy)?.[0];
    const value = this.take(/(?=\d)/uy) ? this.#number() : this.#argument();
    return sign === '-' ? negative(this.budget, value) : value;
  }

  /** What a LaTeX command takes: a group, a digit or a symbol. */
  #argument(): Value {
    if (this.take(/\{/uy)) return this.#group(/\}/uy);
    if (this.take(/\(/uy)) return this.#group(/\)/uy);
    const digit = this.take(/\d/uy)?.[0];
    if (digit !== undefined) return ofInteger(BigInt(digit));
    if (this.next(/\\/uy)) return this.#atom();
    const letter = this.take(/[A-Za-z]/uy)?.[0];
    if (letter === undefined) throw new Undecided('An argument is missing.');
    return this.#symbol(letter);
  }

  #group(end: RegExp): Value {
    if (++this.#depth > deepest) throw new Undecided('It is nested too deeply.');
    const value = this.sum();
    this.need(end);
    this.#depth--;
    return value;
  }

  #atom(): Value {
    this.take(/\\?\$|[€£¥]/uy);
    if (this.next(/\.?\d/uy)) return this.#number();
    if (this.take(/\(/uy)) return this.#group(/\)/uy);
    if (this.take(/\{/uy)) return this.#group(/\}/uy);
    if (this.take(/\||\\[lr]?vert(?![a-z])/uy)) return this.#absolute();
    if (this.take(/\\frac(?![a-z])/uy)) {
      const above = this.#argument();
      return product(this.budget, above, inverse(this.#argument()));
    }
    if (this.take(/\\binom(?![a-z])/uy)) return this.#binomial();
    if (this.take(/\\sqrt(?![a-z])/uy)) return this.#root();
    if (this.take(at.bold)) return this.#argument();
    const command = this.take(at.functionName)?.[1];
    if (command !== undefined) return this.#function(command);
    const plain = this.take(at.plainFunction);
    if (plain?.[3] !== undefined) return this.#symbol(`\\${plain[3]}`);
    if (plain !== undefined) return plain[0] === 'sqrt' ? this.#root() : this.#function(plain[0]);
    const symbol = this.take(at.greek)?.[0];
    if (symbol !== undefined) return this.#symbol(symbol);
    if (this.next(at.letters) && !this.atUnit()) return this.#symbol(this.take(/[A-Za-z]/uy)?.[0] ?? '');
    throw new Undecided(`What stands at ${this.#at} is not known.`);
  }

  #symbol(name: string): Value {
    const [, long, single] = this.take(at.subscript) ?? [];
    const below = long ?? single;
    if (below === undefined && name === 'i') return imaginary(this.budget);
    return ofAtom(this.budget, { name: below === undefined ? name : `${name}_${below}` }, unit);
  }

  #number(): Value {
    const mixed = this.take(at.mixed);
    if (mixed !== undefined) {
      const [, whole = '', ...parts] = mixed;
      const [top, under] = parts.filter((part) => part !== undefined).map((part) => this.#integer(part));
      if (top === undefined || under === undefined || top >= under)
        throw new Undecided('A number stands before a fraction that is not part of it.');
      return ofNumber(plus(fraction(this.#integer(whole)), fraction(top, under)));
    }
    const repeating = this.take(at.repeating);
    if (repeating !== undefined) {
      const [, whole = '', first = '', again = ''] = repeating;
      const nines = 10n ** BigInt(again.length) - 1n;
      const once = this.#integer(`${whole}${first}` || '0');
      return ofNumber(fraction(once * nines + this.#integer(again), nines * 10n ** BigInt(first.length)));
    }
    const [, digits = '', exponent = '0'] = this.take(at.decimal) ?? [];
    if (this.#depth + this.brackets > 0 && digits.includes(',')) throw new Undecided('A comma may separate numbers.');
    const plain = digits.replaceAll(/[, ]/gu, '').replace(/^\./u, '0.');
    return ofNumber(this.#decimal(decimalText(`${plain}e${exponent}`)));
  }

  #decimal(written: string): Fraction {
    const [whole = '', decimals = ''] = written.split('.');
    if (!/^\d+$/u.test(`${whole}${decimals}`)) throw new Undecided('A number is not known.');
    return fraction(this.#integer(`${whole}${decimals}`), 10n ** BigInt(decimals.length));
  }

  #integer(digits: string): bigint {
    if (digits.length > 1000) throw new Undecided('A number is too long.');
    return BigInt(digits);
  }

  #absolute(): Value {
    const value = this.#group(/\||\\[lr]?vert(?![a-z])/uy);
    const number = numberOf(value);
    if (number === undefined) {
      const sizes = [valueKey(value), valueKey(negative(this.budget, value))].toSorted();
      return ofAtom(this.budget, { name: `abs(${sizes[0]})`, opaque: true }, unit);
    }
    return number.numerator < 0n ? negative(this.budget, value) : value;
  }

  #root(): Value {
    let degree = 2n;
    if (this.take(/\[/uy)) {
      const written = this.take(/\d{1,3}(?= *\])/uy)?.[0];
      if (written === undefined) throw new Undecided('The degree of a root is not known.');
      degree = BigInt(written);
      this.need(/\]/uy);
    }
    const radicand = this.#argument();
    if (degree === 0n) throw new Undecided('A root has degree 0.');
    const number = numberOf(radicand);
    const exponent = ofNumber(fraction(1n, degree));
    if (number === undefined || number.numerator >= 0n || degree % 2n === 0n)
      return power(this.budget, radicand, exponent);
    return negative(this.budget, power(this.budget, negative(this.budget, radicand), exponent));
  }

  #binomial(): Value {
    const [above, below] = [wholeOf(this.#argument()), wholeOf(this.#argument())];
    if (below > above) return ofInteger(0n);
    let result = 1n;
    for (let i = 1n; i <= below; i++) {
      result = (result * (above - below + i)) / i;
      this.budget.number(result);
    }
    return ofInteger(result);
  }

  /** A function of an expression is one variable, named by the expression; logarithms of numbers are sums. */
  #function(name: string): Value {
    const base = name === 'log' && this.take(/_/uy) ? this.#argument() : undefined;
    const exponent = this.take(/\^/uy) ? this.#exponent() : undefined;
    if (exponent !== undefined && !((numberOf(exponent)?.numerator ?? 0n) > 0n))
      throw new Undecided('A function has a power that may be its inverse.');
    const given = this.next(/[({]/uy) ? this.#argument() : this.#arguments();
    if (name === 'exp') return power(this.budget, ofAtom(this.budget, { name: 'e' }, unit), given);
    const kind = base === undefined && name !== 'lg' ? name : 'ln';
    const value = this.#applied(kind, given);
    const divisor = name === 'lg' ? ofInteger(10n) : base;
    const result = divisor ? product(this.budget, value, inverse(this.#applied('ln', divisor))) : value;
    return exponent === undefined ? result : power(this.budget, result, exponent);
  }

  /** Factors behind a function that has no brackets. */
  #arguments(): Value {
    let value = this.#powered();
    while (this.next(at.letters) || this.next(at.greek)) {
      if (this.next(at.plainFunction) || this.atUnit()) break;
      value = product(this.budget, value, this.#powered());
    }
    return value;
  }

  #applied(name: string, given: Value): Value {
    const number = numberOf(given);
    if (/^l/u.test(name) && number !== undefined && number.numerator > 0n) {
      let total = ofInteger(0n);
      for (const [prime, count] of primesOf(this.budget, number)) {
        const atom = ofAtom(this.budget, { name: `${name}(${prime})`, opaque: true }, unit);
        total = sum(this.budget, total, product(this.budget, ofInteger(count), atom));
      }
      return total;
    }
    if (name === 'ln' && valueKey(given) === '1/1*e^1/1') return ofInteger(1n);
    return ofAtom(this.budget, { name: `${name}(${valueKey(given)})`, opaque: true }, unit);
  }
}

function wholeOf(value: Value): bigint {
  const number = numberOf(value);
  const isSmall = number?.denominator === 1n && number.numerator >= 0n && number.numerator <= 1000n;
  if (!isSmall || number === undefined) throw new Undecided('A number is not whole, or too large.');
  return number.numerator;
}

function factorial(budget: Budget, value: Value): bigint {
  let result = 1n;
  for (let i = wholeOf(value); i > 1n; i--) {
    result *= i;
    budget.number(result);
  }
  return result;
}
