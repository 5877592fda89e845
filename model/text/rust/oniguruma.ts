import {
  complement,
  inClass,
  named,
  type Ranges,
  shorthand,
  wordOutside,
} from './character-ranges.ts';

/**
 * A regular expression of Oniguruma, which Rust's tokenizers cut text with, in constructs that mean the same to the
 * JavaScript library: classes of characters are written out, and what ignores case names each case.
 *
 * @throws Error that says which construct cannot be told the same way
 */
export const plainConstructs = (pattern: string): string => new Translation(pattern).text;

const tokens =
  /\\(?<sign>[pP])\{(?<not>\^?)(?<name>\w+)\}|\\x\{[\da-fA-F]+\}|\\x[\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\(?<escaped>.)|(?<group>\(\?(?:<[=!]|[:=!]|[^:)]*[:)]?)|\()|(?<posix>\[:\^?[a-z]+:\])|(?<opens>\[\^?\]?)|(?<repeats>[?*+][?+]?|\{\d*,?\d*\}\??)|./gsu;

const groups = new Set(['(', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?i:']);
const anchors = 'AzZ';
const control = 'nrtfvae';
/** Two letters or more that are one to Oniguruma where it ignores case: ß, ﬀ, ﬁ, ﬂ, ﬆ. */
const ligatures = /ss|st|ff|fi|fl/i;

class Translation {
  text = '';
  /** Whether case is ignored, by group; the innermost last. */
  readonly #ignores = [false];
  /** Classes that are open. */
  #depth = 0;
  /** Where the last thing began that can be repeated, and whether it is one character. */
  #atom: { start: number; single: boolean } = { start: 0, single: false };

  constructor(pattern: string) {
    if (/\(\?i:/.test(pattern) && ligatures.test(pattern))
      refuse('letters of a ligature', '(?i:…)');
    for (const { 0: text, groups: parts = {} } of pattern.matchAll(tokens)) this.#add(text, parts);
  }

  #add(text: string, parts: Readonly<Record<string, string | undefined>>): void {
    const { sign, not, name, escaped, group, posix, opens, repeats } = parts;
    if (sign !== undefined)
      this.#set(ofProperty(name ?? '', text), (sign === 'P') !== (not === '^'));
    else if (escaped !== undefined) this.#escape(escaped);
    else if (posix !== undefined) refuse(posix);
    else if (opens !== undefined) this.#open(opens);
    else if (this.#depth > 0) this.#inside(text);
    else if (group !== undefined) this.#group(group);
    else if (text === ')') this.#ends();
    else if (repeats !== undefined) this.#repeat(repeats);
    else this.#literal(text);
  }

  /** A class of characters, or all others. */
  #set(ranges: Ranges, others: boolean): void {
    if (this.#ignoring) refuse('a class of characters', '(?i:…)');
    const shown = inClass(others ? complement(ranges) : ranges);
    if (this.#depth > 0) this.text += shown;
    else this.#single(`[${shown}]`);
  }

  #escape(letter: string): void {
    const lower = letter.toLowerCase();
    const word = lower === 'w' && this.#depth === 0 ? wordOutside : undefined;
    const ranges = word ?? shorthand[lower];
    if (ranges !== undefined) return this.#set(ranges, letter !== lower);
    if (letter === 'b' && this.#depth === 0) return this.#boundary();
    if (anchors.includes(letter) && this.#depth === 0) this.text += `\\${letter}`;
    else if (/[A-Za-z0-9]/.test(letter) && !control.includes(letter)) refuse(`\\${letter}`);
    else if (this.#depth > 0) this.text += `\\${letter}`;
    else this.#single(`\\${letter}`);
  }

  #boundary(): void {
    const word = `[${inClass(wordOutside)}]`;
    this.text += `(?:(?<!${word})(?=${word})|(?<=${word})(?!${word}))`;
  }

  #open(text: string): void {
    if (this.#depth === 0) this.#atom = { start: this.text.length, single: true };
    this.#depth += 1;
    this.text += text;
  }

  #inside(text: string): void {
    if (text === ']') this.#depth -= 1;
    if (this.#ignoring && !/^[A-Za-z'\]]$/.test(text)) refuse(text, '(?i:…)');
    this.text += this.#ignoring ? cases(text) : text;
  }

  #group(opening: string): void {
    if (!groups.has(opening)) refuse(opening);
    const ignores = opening === '(?i:' || this.#ignoring;
    this.#ignores.push(ignores);
    this.text += opening === '(' || opening === '(?i:' ? '(?:' : opening;
  }

  #ends(): void {
    this.#ignores.pop();
    this.text += ')';
    this.#atom = { start: this.text.length, single: false };
  }

  /** A possessive repetition, which never gives back, becomes a repetition and a check that no more follows. */
  #repeat(sign: string): void {
    if (sign.endsWith('}?')) refuse(sign);
    const possessive = sign.length === 2 && sign.endsWith('+');
    if (!possessive) {
      this.text += sign;
      return;
    }
    const { start, single } = this.#atom;
    if (!single) refuse(`${sign} after a group`);
    const [before, atom] = [this.text.slice(0, start), this.text.slice(start)];
    const none = `(?!${atom})`;
    this.text = before + (sign[0] === '?' ? `(?:${atom}|${none})` : `${atom}${sign[0]}${none}`);
  }

  #literal(text: string): void {
    if (this.#ignoring && /[^ -[\]-~]/.test(text)) refuse(text, '(?i:…)');
    if ('|^$'.includes(text)) this.text += text;
    else if (this.#ignoring && /[a-z]/i.test(text)) this.#single(`[${cases(text)}]`);
    else this.#single(text);
  }

  #single(text: string): void {
    this.#atom = { start: this.text.length, single: true };
    this.text += text;
  }

  get #ignoring(): boolean {
    return this.#ignores.at(-1) === true;
  }
}

function ofProperty(name: string, text: string): Ranges {
  return named(name) ?? refuse(text);
}

/** The letter in every case, the long s and the sign of kelvin included. */
function cases(letter: string): string {
  const others: Readonly<Record<string, string>> = { s: '\\x{17f}', k: '\\x{212a}' };
  const lower = letter.toLowerCase();
  return /[a-z]/i.test(letter) ? `${lower}${lower.toUpperCase()}${others[lower] ?? ''}` : letter;
}

function refuse(construct: string, where = 'regular expressions'): never {
  throw new Error(`${construct} in ${where} is not supported`);
}
