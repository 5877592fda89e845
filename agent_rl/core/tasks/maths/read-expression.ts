import { fraction } from '../fraction.ts';
import { absolute, applied, binomial, factorial, nthRoot } from './function-value.ts';
import { imaginary, power } from './power.ts';
import { readNumber } from './read-number.ts';
import { atUnit, letters } from './read-unit.ts';
import { TextCursor } from './text-cursor.ts';
import { type Budget, Undecided } from './undecided.ts';
import {
  inverse,
  negative,
  numberOf,
  ofAtom,
  ofInteger,
  product,
  sum,
  type Value,
} from './value.ts';

const unit = fraction(1n);
const deepest = 50;

const greek =
  'alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|pi|ell';
const functions = 'arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|lg|exp';

const at = {
  plainFunction: new RegExp(
    `(${functions}|sqrt)(?= *[({]|_)|(sqrt)(?=\\d)|(pi|theta|alpha|beta)(?![A-Za-z])`,
    'uy',
  ),
  functionName: new RegExp(`\\\\(${functions})(?![a-zA-Z])`, 'uy'),
  greek: new RegExp(`\\\\(?:${greek})(?![a-zA-Z])`, 'uy'),
  subscript: / *_ *(?:\{ *([A-Za-z0-9]+) *\}|([A-Za-z0-9]))/uy,
  bold: /\\(?:(?:textbf|mathbf|boldsymbol|bm|mathit|textit)(?= *\{ *[-+]?(?:\d|[a-zA-Z] *\}))|(?:mathrm|text|boxed|fbox)(?= *\{ *[-+]?\d))/uy,
};

/** Reads one expression at a time off a text, as an exact value; what it does not know it refuses. */
export class ExpressionReader extends TextCursor {
  /** Whether a plus-minus was read; it stands for `sign`. */
  plusMinus = false;
  readonly #sign: bigint;

  constructor(text: string, budget: Budget, sign: bigint) {
    super(text, budget);
    this.#sign = sign;
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
    this.take(/(?:\\?\$|[€£¥₹])(?= *[-+])/uy);
    const sign = this.take(/[-+]|\\pm(?![a-z])|\\mp(?![a-z])/uy)?.[0];
    const value = this.#product();
    const signs: Record<string, bigint> = { '-': -1n, '\\pm': this.#sign, '\\mp': -this.#sign };
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
      } else if (this.take(/\/(?! *(?!sqrt|sin|cos|tan|log|exp)[A-Za-z]{3})|\\div(?![a-z])/uy)) {
        if (divided) throw new Undecided('It divides twice.');
        divided = true;
        value = product(this.budget, value, inverse(this.budget, this.#factor()));
      } else if (this.#atFactor()) {
        if (divided)
          throw new Undecided('The divisor is ambiguous: a/b c may mean (a/b)c or a/(bc).');
        value = product(this.budget, value, this.#factor());
      } else return value;
    }
  }

  /** Whether what follows multiplies without a sign. */
  #atFactor(): boolean {
    if (this.next(/\(|\{|\\(?:frac|sqrt|binom)(?![a-z])/uy)) return true;
    if (this.next(at.greek) || this.next(at.functionName) || this.next(at.plainFunction))
      return true;
    if (this.next(/\.?\d|\\\{/uy))
      throw new Undecided('A number directly follows an expression, without a sign between them.');
    return this.next(at.bold) || (this.next(letters) && !atUnit(this));
  }

  #factor(): Value {
    const sign = this.take(/[-+]/uy)?.[0];
    const value = this.#powered();
    return sign === '-' ? negative(this.budget, value) : value;
  }

  #powered(): Value {
    let value = this.#atom();
    if (this.take(/!(?!=)/uy)) value = factorial(this.budget, value);
    if (this.take(/\^|\*\*/uy)) value = power(this.budget, value, this.#exponent());
    if (this.next(/\^|!|\*\*|_/uy))
      throw new Undecided('A power is raised to a power without brackets.');
    return value;
  }

  #exponent(): Value {
    const sign = this.take(/[-+]/uy)?.[0];
    const value = this.take(/(?=\d)/uy) ? readNumber(this) : this.#argument();
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
    if (++this.depth > deepest) throw new Undecided('Brackets are nested too deeply.');
    const value = this.sum();
    this.need(end);
    this.depth--;
    return value;
  }

  #atom(): Value {
    this.take(/\\?\$|[€£¥₹]/uy);
    if (this.next(/\.?\d/uy)) return readNumber(this);
    if (this.take(/\(/uy)) return this.#group(/\)/uy);
    if (this.take(/\{/uy)) return this.#group(/\}/uy);
    if (this.take(/\||\\[lr]?vert(?![a-z])/uy))
      return absolute(this.budget, this.#group(/\||\\[lr]?vert(?![a-z])/uy));
    if (this.take(/\\frac(?![a-z])/uy)) {
      const above = this.#argument();
      return product(this.budget, above, inverse(this.budget, this.#argument()));
    }
    if (this.take(/\\binom(?![a-z])/uy))
      return binomial(this.budget, this.#argument(), this.#argument());
    if (this.take(/\\sqrt(?![a-z])/uy)) return this.#root();
    if (this.take(at.bold)) return this.#argument();
    const command = this.take(at.functionName)?.[1];
    if (command !== undefined) return this.#function(command);
    const plain = this.take(at.plainFunction);
    if (plain?.[3] !== undefined) return this.#symbol(`\\${plain[3]}`);
    if (plain !== undefined) return plain[0] === 'sqrt' ? this.#root() : this.#function(plain[0]);
    const symbol = this.take(at.greek)?.[0];
    if (symbol !== undefined) return this.#symbol(symbol);
    if (this.next(letters) && !atUnit(this))
      return this.#symbol(this.take(/[A-Za-z]/uy)?.[0] ?? '');
    throw new Undecided(`The text at ${this.place} cannot be read.`);
  }

  #symbol(name: string): Value {
    const [, long, single] = this.take(at.subscript) ?? [];
    const below = long ?? single;
    if (below === undefined && name === 'i') return imaginary(this.budget);
    return ofAtom(this.budget, { name: below === undefined ? name : `${name}_${below}` }, unit);
  }

  #root(): Value {
    const written = this.take(/\[ *(\d{1,3}) *\]/uy)?.[1] ?? '2';
    return nthRoot(this.budget, this.#argument(), BigInt(written));
  }

  /** A function of an expression is one variable, named by the expression; logarithms of numbers are sums. */
  #function(name: string): Value {
    const base = name === 'log' && this.take(/_/uy) ? this.#argument() : undefined;
    const exponent = this.take(/\^/uy) ? this.#exponent() : undefined;
    if (exponent !== undefined && !((numberOf(exponent)?.numerator ?? 0n) > 0n))
      throw new Undecided(
        'The exponent of a function name is ambiguous: sin^-1(x) may mean arcsin(x) or 1/sin(x).',
      );
    const given = this.next(/[({]/uy) ? this.#argument() : this.#arguments();
    if (name === 'exp') return power(this.budget, ofAtom(this.budget, { name: 'e' }, unit), given);
    const kind = base === undefined && name !== 'lg' ? name : 'ln';
    const value = applied(this.budget, kind, given);
    const divisor = name === 'lg' ? ofInteger(10n) : base;
    const result = divisor
      ? product(this.budget, value, inverse(this.budget, applied(this.budget, 'ln', divisor)))
      : value;
    return exponent === undefined ? result : power(this.budget, result, exponent);
  }

  /** Factors behind a function that has no brackets. */
  #arguments(): Value {
    let value = this.#powered();
    while (this.next(letters) || this.next(at.greek)) {
      if (this.next(at.plainFunction) || atUnit(this)) break;
      value = product(this.budget, value, this.#powered());
    }
    if (this.next(/\//uy))
      throw new Undecided('The division is ambiguous: sin x/2 may mean sin(x/2) or sin(x)/2.');
    return value;
  }
}
