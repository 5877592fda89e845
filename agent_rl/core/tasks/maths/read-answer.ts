import { type Fraction, fraction } from '../fraction.ts';
import { normalText } from './normal-text.ts';
import { constant, multiply, type Polynomial } from './polynomial.ts';
import { ExpressionReader } from './read-expression.ts';
import { checkUnits } from './read-unit.ts';
import { Budget, Undecided } from './undecided.ts';
import { negative, numberOf, ofAtom, sameValue, sum, type Value } from './value.ts';

/** One number or expression; or an equation, of which one side less the other is the value. */
export interface Single {
  readonly kind: 'value' | 'equation';
  readonly value: Value;
  /** What stands before the equals sign. */
  readonly name?: string;
  readonly percent?: boolean;
}

/** Several, in order between brackets, such as `[)`, or in any order. */
export interface Several {
  readonly kind: 'set' | 'union' | '()' | '(]' | '[)' | '[]';
  readonly items: readonly Answer[];
}

export type Answer = Single | Several;

const longest = 2000;

/**
 * The number or expression that a text is as a whole; it may have a unit, and a name with an equals sign before it.
 *
 * @returns `undefined` where it is anything else, or takes too much work to read
 */
export function readAnswer(text: string): Answer | undefined {
  if (text.length > longest) return undefined;
  const plain = bare(text);
  if (/\d\s*(?:\.\.|…|\\l?dots)|\d(?:st|nd|rd|th)\b|~~\S/u.test(text.trim())) return undefined;
  const isWords = /^[\p{L}.\s]+$/u.test(plain) && /\p{L}{2}/u.test(plain);
  // Digits with a hyphen are a range or a date as often as a difference.
  if (isWords || /^\d+(?:-\d+)+$/u.test(plain)) return undefined;
  try {
    const first = readSigned(plain, 1n);
    if (!first.plusMinus) return first.answer;
    return { kind: 'set', items: [first.answer, readSigned(plain, -1n).answer] };
  } catch (error) {
    if (error instanceof Undecided) return undefined;
    throw error;
  }
}

/** The number that an answer is, as it is written: 50 for 50%. */
export const answerNumber = (answer: Answer | undefined): Fraction | undefined =>
  answer?.kind === 'value' ? numberOf(answer.value) : undefined;

/** A text without what stands around its expression: LaTeX's dollar signs, Markdown's stars, a full stop. */
function bare(text: string): string {
  let plain = normalText(text).trim();
  for (let before = ''; before !== plain;) {
    before = plain;
    plain = plain
      .replace(/^\$\$(.*)\$\$$|^\$((?:[^$\\]|\\.)*)\$$|^\\\((.*)\\\)$|^\\\[(.*)\\\]$/su, '$1$2$3$4')
      .replace(/^(\*\*|__|`|\*)(.*)\1$/su, '$2')
      .replace(/^\\(?:textbf|mathbf|text|boxed|fbox|mathrm|underline)\s*\{([^{}]*)\}$/su, '$1')
      .replace(
        /^(?:(?:\\text\s*\{\s*)?(?:about|approximately|approx\.?|roughly)\s*\}?|\\approx)(?![a-z])/iu,
        '',
      )
      .replace(
        /^(?:USD|EUR|GBP|INR|Rs\.?)\s*(?=[\d.])|^\\text\s*\{\s*(?:the )?(?:final )?answer(?: is|:)\s*\}/iu,
        '',
      )
      .replace(/[.,;]$/u, '')
      .trim();
  }
  return plain;
}

function readSigned(text: string, sign: 1n | -1n): { answer: Answer; plusMinus: boolean } {
  const budget = new Budget();
  const reader = new ExpressionReader(text, budget, sign);
  const answer = new AnswerReader(reader, budget).all();
  return { answer, plusMinus: reader.plusMinus };
}

const separator =
  /[,;](?: *\\text *\{ *(?:and|or) *\})?|\\(?:text|mathrm|textrm|mbox) *\{ *(?:and|or) *\}|\\(?:land|lor)(?![a-z])/uy;
const name =
  /([A-Za-z]|\\(?!not)[a-zA-Z]+|\\text *\{ *[A-Za-z ]+\})( *_ *(?:\{\w+\}|\w))?( *\( *[A-Za-z](?: *, *[A-Za-z])* *\))? *(?:=(?!=)|\\in(?![a-z]))/uy;
const power = String.raw`(?: *(?:\^|\*\*) *(?:\{ *-?\d *\}|-?\d))?`;
const unitWords = new RegExp(
  String.raw`(?:(?!${separator.source})\\(?:text|textrm|mathrm|mbox|operatorname) *\{ *(\(?[A-Za-z./ -]*\^?\d?\)?)\\? *\}|([A-Za-zµμ]+)\.?|°[CF]?|[€£¥₹¢]|\\?\$|\\cents?(?![a-z]))${power}|(?<=[A-Za-z])-(?=[A-Za-z])|\/(?=\s*[A-Za-z\\])|\.$`,
  'uy',
);

class AnswerReader {
  constructor(
    readonly reader: ExpressionReader,
    readonly budget: Budget,
  ) {}

  all(): Answer {
    const items = this.#list();
    if (!this.reader.next(/$/uy))
      throw new Undecided(`The text at ${this.reader.place} cannot be read.`);
    const [only, ...others] = items;
    return only !== undefined && others.length === 0 ? only : { kind: 'set', items };
  }

  #list(): readonly Answer[] {
    const items = [this.#union()];
    for (;;) {
      const { text, place, brackets } = this.reader;
      const isList =
        /(?<![\d.])\d$/u.test(text.slice(0, place)) && /^,\d(?![\d.])/u.test(text.slice(place));
      if (brackets === 0 && !isList && /^\d,\d/u.test(text.slice(place - 1, place + 2)))
        throw new Undecided('A comma between digits may be a decimal point.');
      if (!this.reader.take(separator)) return items;
      items.push(this.#union());
    }
  }

  #union(): Answer {
    const first = this.#item();
    const items = [first];
    while (this.reader.take(/\\cup(?![a-z])/uy)) items.push(this.#item());
    return items.length === 1 ? first : { kind: 'union', items };
  }

  #item(): Answer {
    const start = this.reader.place;
    const [, symbol, , argument = ''] = this.reader.take(name) ?? [];
    const named = symbol === undefined ? {} : { name: `${symbol}${argument}`.replaceAll(' ', '') };
    const several = this.#several();
    if (several !== undefined) return several;
    const infinity = this.#infinity();
    if (infinity !== undefined) return { kind: 'value', value: infinity, ...named };
    const value = this.reader.sum();
    const percent = this.#units();
    if (!this.reader.next(/=(?!=)/uy))
      return { kind: 'value', value, ...named, ...(percent && { percent }) };
    return this.#equation(value, start, named);
  }

  /** A chain of equal expressions is the last one; an equation of variables is itself. */
  #equation(first: Value, start: number, named: { name?: string }): Answer {
    let before = first;
    let sides = 1;
    let equal = true;
    while (this.reader.take(/=(?!=)/uy)) {
      const side = this.reader.sum();
      this.#units();
      equal &&= sameValue(this.budget, before, side) === true;
      [first, before, sides] = [before, side, sides + 1];
    }
    if (equal) return { kind: 'value', value: before, ...named };
    const value = sum(this.budget, first, negative(this.budget, before));
    const isEquation = sides === 2 && named.name === undefined && numberOf(value) === undefined;
    if (!isEquation || value.below.size !== 1 || !value.below.has(''))
      throw new Undecided(`The two sides of the equation at ${start} are not equal.`);
    return { kind: 'equation', value: { ...value, above: monic(this.budget, value.above) } };
  }

  /** A list between brackets, an interval or a set; `undefined` where the bracket is part of an expression. */
  #several(): Several | undefined {
    const start = this.reader.place;
    const open = this.reader.take(/\(|\[|\\\{/uy)?.[0];
    if (open === undefined) return undefined;
    if (++this.reader.brackets > 10) throw new Undecided('Brackets are nested too deeply.');
    const items = this.#bracketed();
    const close = items && this.reader.take(/\)|\]|\\\}/uy)?.[0];
    this.reader.brackets--;
    if (open === '\\{' && close === '\\}' && items !== undefined) return { kind: 'set', items };
    const kind = `${open}${close ?? ''}`;
    if (items !== undefined && items.length > 1 && isBrackets(kind)) return { kind, items };
    this.reader.backTo(start);
    return undefined;
  }

  #bracketed(): readonly Answer[] | undefined {
    const { brackets } = this.reader;
    try {
      return this.#list();
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.reader.brackets = brackets;
      return undefined;
    }
  }

  #infinity(): Value | undefined {
    const start = this.reader.place;
    const found = this.reader.take(/([-+]?) *\\infty(?![a-z])/uy);
    if (found !== undefined && this.reader.next(/$|[,)\]]/uy)) {
      const value = ofAtom(this.budget, { name: '\\infty' }, fraction(1n));
      return found[1] === '-' ? negative(this.budget, value) : value;
    }
    this.reader.backTo(start);
    return undefined;
  }

  /** Passes over the unit behind an expression, and says whether it is a percent sign. */
  #units(): boolean {
    if (this.reader.take(/\\?%|percent(?![a-z])/uy)) return true;
    let passed = '';
    for (let found; (found = this.reader.take(unitWords));)
      passed += ` ${found[1] ?? ''} ${found[2] ?? ''}`;
    checkUnits(passed.match(/[A-Za-zµμ]+/gu) ?? []);
    return false;
  }
}

const isBrackets = (kind: string): kind is '()' | '(]' | '[)' | '[]' => /^[([][)\]]$/u.test(kind);

/** A polynomial divided by its first coefficient. */
function monic(budget: Budget, polynomial: Polynomial): Polynomial {
  const [[, first] = [undefined, undefined]] = [...polynomial].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  if (first === undefined) return polynomial;
  const { numerator, denominator } = first.coefficient;
  return multiply(budget, polynomial, constant(fraction(denominator, numerator)));
}
