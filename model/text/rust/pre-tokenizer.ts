import { isRecord } from '../../../agent_rl/core/is-record.ts';
import {
  inClass,
  numeric,
  punctuation,
  type Ranges,
  shorthand,
  wordOfRegex,
} from './character-ranges.ts';
import { plainConstructs } from './oniguruma.ts';

type Json = Readonly<Record<string, unknown>>;

/** How GPT-2 cuts text, which ByteLevel does unless it is told not to. It finds all of a text. */
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * The "pre_tokenizer" of a tokenizer.json as steps in a row that the JavaScript library builds as Rust's does: cuts by
 * regular expressions whose classes of characters are written out, and bytes.
 *
 * @throws Error that says what is not supported
 */
export function preTokenizerSteps(json: unknown): readonly Json[] {
  if (json === null || json === undefined) return [];
  if (!isRecord(json)) throw new Error('"pre_tokenizer" is no object');
  const { type } = json;
  switch (type) {
    case 'Sequence':
      return Array.isArray(json['pretokenizers'])
        ? json['pretokenizers'].flatMap(preTokenizerSteps)
        : [];
    case 'ByteLevel':
      return [
        ...(json['use_regex'] === false ? [] : [kept(plainConstructs(gpt2))]),
        { ...json, use_regex: false },
      ];
    case 'Split':
      return [split(json)];
    case 'Digits':
      return [
        kept(
          `[^${inClass(numeric)}]+|${classOf(numeric)}${json['individual_digits'] === true ? '' : '+'}`,
        ),
      ];
    case 'Punctuation':
      return [cutAs(classOf(punctuation), json['behavior'] ?? 'Isolated')];
    case 'BertPreTokenizer':
      return [removed(classOf(shorthand['s']!)), isolated(classOf(punctuation))];
    case 'WhitespaceSplit':
      return [removed(classOf(shorthand['s']!))];
    case 'Whitespace':
      return [
        kept(`${classOf(wordOfRegex)}+|[^${inClass([...wordOfRegex, ...shorthand['s']!])}]+`),
      ];
    case 'CharDelimiterSplit':
      return [removed(escaped(String(json['delimiter'])))];
    case 'FixedLength':
      return [isolated(`[\\s\\S]{1,${Number(json['length'] ?? 5)}}`)];
    default:
      throw new Error(`its pre_tokenizer ${JSON.stringify(type)} is not supported`);
  }
}

function split(json: Json): Json {
  const pattern = patternOf(json['pattern']);
  const behavior = String(json['behavior']);
  if (json['invert'] !== true) return cutAs(pattern, behavior);
  if (behavior === 'Removed') return kept(pattern);
  if (behavior === 'Isolated') return isolated(pattern);
  throw new Error(`its Split that is inverted and ${behavior} is not supported`);
}

/** What a pattern finds, and the text between, as pieces. */
function cutAs(pattern: string, behavior: unknown): Json {
  const found = `(?:${pattern})`;
  const between = `(?:(?!${found})[\\s\\S])+`;
  switch (behavior) {
    case 'Removed':
      return removed(pattern);
    case 'Isolated':
      return isolated(pattern);
    case 'Contiguous':
      return isolated(`${found}+`);
    case 'MergedWithPrevious':
      return isolated(`${between}${found}?|${found}`);
    case 'MergedWithNext':
      return isolated(`${found}(?:${between})?`);
    default:
      throw new Error(`its behavior ${JSON.stringify(behavior)} is not supported`);
  }
}

type Cut = (text: string) => readonly string[];

/** A step as the library has built it. */
export interface BuiltStep {
  readonly pattern: RegExp;
  pre_tokenize_text: Cut;
}

/** The steps one after the other. The library's own cuts cost more: it makes its expressions anew for each text. */
export function cutting(
  steps: readonly Json[],
  built: readonly BuiltStep[],
): (text: string) => string[] {
  const cuts = built.map((step, at): Cut => {
    const { type, behavior, invert } = steps[at] ?? {};
    if (type !== 'Split') return (text) => step.pre_tokenize_text(text);
    const keeps = { found: behavior !== 'Removed' || invert === true, between: invert !== true };
    return (text) => cutAt(step.pattern, text, keeps);
  });
  return (text) => cuts.reduce<string[]>((parts, cut) => parts.flatMap(cut), [text]);
}

function cutAt(
  pattern: RegExp,
  text: string,
  keeps: { found: boolean; between: boolean },
): string[] {
  const parts: string[] = [];
  let end = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found] = match;
    if (keeps.between && match.index > end) parts.push(text.slice(end, match.index));
    if (keeps.found && found !== '') parts.push(found);
    end = match.index + found.length;
    if (found === '') pattern.lastIndex += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  if (keeps.between && end < text.length) parts.push(text.slice(end));
  return parts;
}

/** A pattern of a tokenizer.json: a text, or a regular expression. */
export function patternOf(pattern: unknown): string {
  const { String: text, Regex: regex } = isRecord(pattern) ? pattern : {};
  if (typeof regex === 'string') return plainConstructs(regex);
  if (typeof text === 'string') return escaped(text);
  throw new Error(`its pattern ${JSON.stringify(pattern)} is neither a String nor a Regex`);
}

const step = (pattern: string, behavior: string, invert: boolean): Json => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior,
  invert,
});
const isolated = (pattern: string): Json => step(pattern, 'Isolated', false);
const removed = (pattern: string): Json => step(pattern, 'Removed', false);
/** What the pattern finds; the text between is left out. */
const kept = (pattern: string): Json => step(pattern, 'Removed', true);

const classOf = (ranges: Ranges): string => `[${inClass(ranges)}]`;
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
