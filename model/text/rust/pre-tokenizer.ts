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

/** How GPT-2 splits text, which ByteLevel does by default. The pattern covers the whole text. */
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * The "pre_tokenizer" of a tokenizer.json as steps in a row that the JavaScript library builds as Rust's does: cuts by
 * regular expressions whose classes of characters are written out, and bytes.
 *
 * @throws Error that says what is not supported
 */
export function preTokenizerSteps(json: unknown): readonly Json[] {
  if (json === null || json === undefined) return [];
  if (!isRecord(json)) throw new Error('"pre_tokenizer" is not an object');
  const { type } = json;
  switch (type) {
    case 'Sequence':
      if (!Array.isArray(json['pretokenizers'])) throw new Error('"pretokenizers" is not a list');
      return json['pretokenizers'].flatMap(preTokenizerSteps);
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
      return [step(classOf(punctuation), json['behavior'] ?? 'Isolated')];
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

const behaviors: ReadonlySet<unknown> = new Set([
  'Removed',
  'Isolated',
  'Contiguous',
  'MergedWithPrevious',
  'MergedWithNext',
]);

function split(json: Json): Json {
  return step(patternOf(json['pattern']), json['behavior'], json['invert'] === true);
}

/** A pattern of a tokenizer.json: a text, or a regular expression. */
export function patternOf(pattern: unknown): string {
  const { String: text, Regex: regex } = isRecord(pattern) ? pattern : {};
  if (typeof regex === 'string') return plainConstructs(regex);
  if (typeof text === 'string') return escaped(text);
  throw new Error(`its pattern ${JSON.stringify(pattern)} is neither a String nor a Regex`);
}

function step(pattern: string, behavior: unknown, invert = false): Json {
  if (!behaviors.has(behavior))
    throw new Error(`its behavior ${JSON.stringify(behavior)} is not supported`);
  return { type: 'Split', pattern: { Regex: pattern }, behavior, invert };
}
const isolated = (pattern: string): Json => step(pattern, 'Isolated');
const removed = (pattern: string): Json => step(pattern, 'Removed');
/** What the pattern finds; the text between is left out. */
const kept = (pattern: string): Json => step(pattern, 'Removed', true);

const classOf = (ranges: Ranges): string => `[${inClass(ranges)}]`;
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
