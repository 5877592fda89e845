import path from 'node:path';

import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';

import { AgentRlError, messageOf } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readJson } from '../config/read-json.ts';
import { type BuiltChange, normalizerSteps, normalizing } from './rust/normalizer.ts';
import { type BuiltStep, cutting } from './rust/cutting.ts';
import { preTokenizerSteps } from './rust/pre-tokenizer.ts';
import { bytesOfToken } from './token-bytes.ts';

interface AddedToken {
  id: number;
  content: string;
  special: boolean;
}

/** Stands for bytes and ids that are not text. */
const replacement = '\uFFFD';

/**
 * A byte-pair tokenizer as a tokenizer.json describes it, with two ways to encode: text of the chat template,
 * in which `<|im_start|>` or `<tool_call>` are single tokens, and text that others wrote, in which they never
 * are: only the template and the policy can open a turn or a tool call.
 */
export class Tokenizer {
  readonly #template: HuggingFaceTokenizer;
  readonly #plain: HuggingFaceTokenizer;
  readonly #controls: ReadonlyMap<number, AddedToken>;
  /** Ids of control tokens, by their text. */
  readonly #ids: ReadonlyMap<string, number>;
  readonly #known: ReadonlySet<number>;
  /** Bytes of tokens that were asked for. */
  readonly #lengths = new Map<number, number>();
  /** Its vocabulary writes bytes as characters of their own. */
  readonly #isByteLevel: boolean;
  /** Bytes without a token, which are left out of texts. */
  readonly #lacking: ReadonlySet<number>;
  /** One more than the highest id, added tokens included. */
  readonly vocabularySize: number;
  /** No token has more characters, and no text fewer tokens than it has of these; Infinity where that cannot be said. */
  readonly mostCharsOfToken: number;
  /** Strings such as `bos_token` and `eos_token` of tokenizer_config.json, by that name. */
  readonly namedTokens: Readonly<Record<string, string>>;

  /** @throws AgentRlError `TOKENIZER_INVALID` when the files are not what this tokenizer can read. */
  constructor(tokenizerJson: unknown, tokenizerConfig: unknown, source = 'tokenizer.json') {
    const json = checked(tokenizerJson, source);
    const config = isRecord(tokenizerConfig) ? tokenizerConfig : {};
    // Runs of blanks that are one token are not control tokens.
    const controls = addedTokensOf(json, source).filter(
      ({ content }) => !/^[\s\u2581]*$/.test(content),
    );
    this.#controls = new Map(controls.map((token) => [token.id, token]));
    // The first of two tokens with the same text counts.
    this.#ids = new Map(controls.toReversed().map(({ content, id }) => [content, id]));
    this.namedTokens = namedTokensOf(config);
    this.#isByteLevel = JSON.stringify(json['decoder'] ?? null).includes('"ByteLevel"');
    try {
      this.#lacking = lackingBytes(json);
      this.#template = asInRust(json, this.#lacking);
      this.#plain = asInRust(withoutControls(json, controls), this.#lacking);
      this.#known = new Set(
        [...this.#template.get_vocab()].flatMap(([token, id]) => (token === undefined ? [] : [id])),
      );
      let size = 0;
      for (const id of this.#known) size = Math.max(size, id + 1);
      this.vocabularySize = size;
      this.mostCharsOfToken =
        this.#lacking.size === 0 && keepsCharacters(json)
          ? longestOf(this.#template) * (isRecord(json['normalizer']) ? mostComposed : 1)
          : Infinity;
    } catch (cause) {
      const problem = `it is not a usable tokenizer (${messageOf(cause)})`;
      throw invalid(source, problem, cause);
    }
  }

  /** Reads tokenizer.json and tokenizer_config.json of a model folder. */
  static async fromFolder(folder: string): Promise<Tokenizer> {
    const file = path.join(folder, 'tokenizer.json');
    const config = await readJson(path.join(folder, 'tokenizer_config.json'), 'TOKENIZER_INVALID');
    return new Tokenizer(await readJson(file, 'TOKENIZER_INVALID'), config, file);
  }

  /** Ids of text in which control tokens are meant. */
  encodeTemplate(text: string): number[] {
    return this.#template.encode(wellFormed(text), { add_special_tokens: false }).ids;
  }

  /** Ids of text that someone wrote: control tokens in it are spelt out, and decode to the same characters. */
  encodePlain(text: string): number[] {
    return this.#plain.encode(wellFormed(text), { add_special_tokens: false }).ids;
  }

  /** The text of ids, control tokens included. Ids the tokenizer does not know read as U+FFFD. */
  decode(ids: readonly number[]): string {
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    const runs: number[][] = [[]];
    for (const id of ids) {
      if (this.#known.has(id)) runs.at(-1)!.push(id);
      else runs.push([]);
    }
    const decoded = (run: number[]): string =>
      run.length === 0 ? '' : this.#template.decode(run, options);
    return runs.map(decoded).join(replacement);
  }

  /** A token as the vocabulary writes it, undefined where it has none of that id. */
  tokenOf(id: number): string | undefined {
    return this.#template.id_to_token(id);
  }

  /**
   * The bytes that a token stands for: a part of a character has its own. Undefined for an id that the tokenizer does
   * not know.
   */
  bytesOf(id: number): readonly number[] | undefined {
    const token = this.tokenOf(id);
    if (token === undefined) return undefined;
    if (!this.isControl(id)) {
      const bytes = this.#isByteLevel ? bytesOfToken(token) : byteOfFallback(token);
      if (bytes !== undefined) return bytes;
    }
    return [...Buffer.from(this.decode([id]))];
  }

  /** How many bytes of a text, as it is once it is normalised, are to be in tokens. */
  bytesIn(text: string): number {
    const normalize = this.#plain.normalizer as ((text: string) => string) | null;
    const bytes = Buffer.from(normalize?.(wellFormed(text)) ?? text);
    if (this.#lacking.size === 0) return bytes.length;
    return bytes.filter((byte) => !this.#lacking.has(byte)).length;
  }

  /** How many bytes a token stands for. */
  lengthOf(id: number): number {
    const known = this.#lengths.get(id) ?? this.bytesOf(id)?.length ?? 0;
    this.#lengths.set(id, known);
    return known;
  }

  /** Texts of the control tokens. */
  get controls(): readonly string[] {
    return [...this.#ids.keys()];
  }

  /** Whether there is a control token of this text. */
  hasControl(content: string): boolean {
    return this.#ids.has(content);
  }

  /** Id of a control token. @throws AgentRlError `TOKENIZER_INVALID` when there is no such token. */
  idOf(content: string): number {
    const id = this.#ids.get(content);
    if (id !== undefined) return id;
    const known = [...this.#controls.values()].map((token) => token.content).join(' ');
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `The tokenizer has no control token "${content}". It has: ${known}`,
    );
  }

  /** Whether an id is a control token: one that `encodePlain` never gives. */
  isControl(id: number): boolean {
    return this.#controls.has(id);
  }

  /** Whether an id is a control token marked special: those that frame turns, not `<think>` or `<tool_call>`. */
  isSpecial(id: number): boolean {
    return this.#controls.get(id)?.special ?? false;
  }
}

/** Half a surrogate pair, which no text of Rust's can hold, is written as U+FFFD. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, replacement);

type Json = Readonly<Record<string, unknown>>;
type TokenizerJson = Json & { model: Json };

function checked(json: unknown, source: string): TokenizerJson {
  if (!isRecord(json) || !isRecord(json['model'])) throw invalid(source, 'it has no "model"');
  const { model } = json;
  const { type, vocab, merges } = model;
  if (type !== 'BPE' || !isRecord(vocab) || !Array.isArray(merges)) {
    const found = JSON.stringify(type);
    throw invalid(source, `its model is ${found}; only BPE with a vocab and merges is supported`);
  }
  // Contents are encoded piece by piece: a tokenizer that puts a space before each piece would change the text.
  const before = JSON.stringify([json['normalizer'], json['pre_tokenizer']]);
  if (/"type":"(Prepend|Metaspace)"|"add_prefix_space":true/.test(before)) {
    const problem = 'it puts a space before every text, which is not supported';
    throw invalid(source, `${problem} (SentencePiece style)`);
  }
  const unlike = affixes.find((name) => ![undefined, null, '', 0].includes(model[name] as null));
  if (unlike !== undefined)
    throw invalid(source, `its model has ${unlike}, which is not supported`);
  return { ...json, added_tokens: renumbered(json['added_tokens'] ?? [], vocab), model };
}

/** Added tokens with the ids that Rust gives them: the vocabulary's id, or else the next free one. */
function renumbered(tokens: unknown, vocab: Json): unknown {
  if (!Array.isArray(tokens)) return tokens;
  const ids = new Map<string, unknown>();
  let next = Object.keys(vocab).length;
  return tokens.map((token: unknown) => {
    const { id: written, content } = isRecord(token) ? token : {};
    if (typeof written !== 'number' || typeof content !== 'string') return token;
    const known = Object.hasOwn(vocab, content) ? vocab[content] : ids.get(content);
    const id = Number(known ?? next);
    ids.set(content, id);
    next = Math.max(next, id + 1);
    return { ...(token as Json), id };
  });
}

/** What the JavaScript library does not do as Rust's. */
const affixes = ['dropout', 'continuing_subword_prefix', 'end_of_word_suffix'];

/** Steps before the merges that leave a text as long as it is; NFC makes up to four characters one. */
const harmless = new Set([
  'NFC',
  'NFD',
  'NFKC',
  'NFKD',
  'Sequence',
  'ByteLevel',
  'Split',
  'Digits',
]);
const mostComposed = 4;

/** Whether each character of a text is in some token: none is taken away, and no unknown ones become one. */
function keepsCharacters({ normalizer, pre_tokenizer: before, model }: TokenizerJson): boolean {
  const steps = JSON.stringify([normalizer, before]);
  const types = [...steps.matchAll(/"type":"(\w+)"/g)].map(([, type = '']) => type);
  return (
    types.every((type) => harmless.has(type)) &&
    !steps.includes('"Removed"') &&
    model['fuse_unk'] !== true
  );
}

/** Bytes that are in no UTF-8. */
const isUnused = (byte: number): boolean => byte === 0xc0 || byte === 0xc1 || byte > 0xf4;

/**
 * The bytes that a byte-level vocabulary lacks, which Rust leaves out: SmolLM2's has no token for some control characters.
 *
 * @throws Error where Rust would put an unknown token for characters, and pair what stands on either side of them, or make one of several
 */
function lackingBytes({ model, pre_tokenizer: before }: TokenizerJson): ReadonlySet<number> {
  const pretokenizers = preTokenizerSteps(before);
  const tokens = Object.keys(model['vocab'] as Json);
  const lacking = (bytesOf: (token: string) => readonly number[] | undefined): Set<number> => {
    const bytes = new Set(tokens.map(bytesOf).flatMap((of) => (of?.length === 1 ? of : [])));
    const all = Array.from({ length: 256 }, (_, byte) => byte);
    return new Set(all.filter((byte) => !isUnused(byte) && !bytes.has(byte)));
  };
  const hasUnknown = (model['unk_token'] ?? null) !== null;
  if (model['byte_fallback'] === true && lacking(byteOfFallback).size === 0) return new Set();
  if (pretokenizers.some(({ type }) => type === 'ByteLevel')) {
    const bytes = lacking((token) => (token.length === 1 ? bytesOfToken(token) : undefined));
    if (bytes.size > 0 && (hasUnknown || model['byte_fallback'] === true))
      throw new Error('its vocabulary lacks bytes, and has another token for them');
    return bytes;
  }
  if (!hasUnknown)
    throw new Error('it has neither bytes nor an unk_token for text outside its vocabulary');
  if (model['fuse_unk'] === true && pretokenizers.length > 0)
    throw new Error('fuse_unk together with a pre_tokenizer is not supported');
  return new Set();
}

/** Pieces of text, written as bytes, without those that have no token. */
function withoutBytes(cut: (text: string) => string[], lacking: ReadonlySet<number>) {
  if (lacking.size === 0) return cut;
  const isKept = (sign: string): boolean => !lacking.has(bytesOfToken(sign)?.[0] ?? -1);
  return (text: string): string[] =>
    cut(text)
      .map((piece) => Array.from(piece).filter(isKept).join(''))
      .filter((piece) => piece !== '');
}

/** The tokenizer of the JavaScript library, which gives the ids that Rust's gives. */
function asInRust(json: TokenizerJson, lacking: ReadonlySet<number>): HuggingFaceTokenizer {
  const normalizers = normalizerSteps(json['normalizer']);
  const pretokenizers = preTokenizerSteps(json['pre_tokenizer']);
  const built = new HuggingFaceTokenizer(
    {
      ...json,
      normalizer: { type: 'Sequence', normalizers },
      pre_tokenizer: { type: 'Sequence', pretokenizers },
    },
    {},
  );
  const changes = built.normalizer as { normalizers: BuiltChange[] };
  built.normalizer = normalizers.length > 0 ? normalizing(normalizers, changes.normalizers) : null;
  const cuts = built.pre_tokenizer as { tokenizers: BuiltStep[] };
  built.pre_tokenizer =
    pretokenizers.length > 0
      ? withoutBytes(cutting(pretokenizers, cuts.tokenizers), lacking)
      : null;
  return built;
}

function longestOf(tokenizer: HuggingFaceTokenizer): number {
  let longest = 1;
  for (const [token] of tokenizer.get_vocab()) longest = Math.max(longest, token?.length ?? 0);
  return longest;
}

/** The same tokenizer, unable to give a control token, not even by merging its characters. */
function withoutControls(json: TokenizerJson, controls: readonly AddedToken[]): TokenizerJson {
  const names = new Set(controls.map(({ content }) => content));
  const vocab = isRecord(json.model['vocab']) ? json.model['vocab'] : {};
  const added = json['added_tokens'] as readonly AddedToken[];
  const rest = { ...json, added_tokens: added.filter(({ content }) => !names.has(content)) };
  // What is merged is in the vocabulary. Copying a large one costs more than building the tokenizer.
  if (controls.every(({ content }) => !Object.hasOwn(vocab, content))) return rest;
  const merges = json.model['merges'] as readonly unknown[];
  return {
    ...rest,
    model: {
      ...json.model,
      vocab: Object.fromEntries(Object.entries(vocab).filter(([token]) => !names.has(token))),
      merges: merges.filter((merge) => !names.has(mergedToken(merge))),
    },
  };
}

/** The byte of a token such as `<0xE2>`, as vocabularies write it that have characters and fall back on bytes. */
function byteOfFallback(token: string): readonly number[] | undefined {
  const [, hex] = /^<0x([0-9A-F]{2})>$/.exec(token) ?? [];
  return hex === undefined ? undefined : [Number.parseInt(hex, 16)];
}

/** Merges are written as "a b" or ["a", "b"]. */
const mergedToken = (merge: unknown): string =>
  Array.isArray(merge) ? merge.join('') : String(merge).replace(' ', '');

function addedTokensOf(json: TokenizerJson, source: string): AddedToken[] {
  const tokens: unknown = json['added_tokens'] ?? [];
  if (!Array.isArray(tokens)) throw invalid(source, '"added_tokens" is not a list');
  return tokens.map((token: unknown) => {
    const { id, content, special, ...how } = isRecord(token) ? token : {};
    const unlike = ['single_word', 'lstrip', 'rstrip'].find((name) => how[name] === true);
    if (unlike !== undefined) {
      const shown = JSON.stringify(content);
      throw invalid(source, `its added token ${shown} has ${unlike}, which is not supported`);
    }
    if (typeof id === 'number' && typeof content === 'string')
      return { id, content, special: special === true };
    throw invalid(source, `added token ${JSON.stringify(token)} has no id or no content`);
  });
}

function namedTokensOf(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(config)) {
    if (!name.endsWith('_token')) continue;
    const content = isRecord(value) ? value['content'] : value;
    if (typeof content === 'string') named[name] = content;
  }
  return named;
}

const invalid = (source: string, problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('TOKENIZER_INVALID', `${source}: ${problem}.`, { cause });
