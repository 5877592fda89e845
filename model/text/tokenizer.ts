import path from 'node:path';

import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readJson } from '../config/read-json.ts';
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
  readonly #added: ReadonlyMap<number, AddedToken>;
  /** Of added tokens, by their text. */
  readonly #ids: ReadonlyMap<string, number>;
  readonly #known: ReadonlySet<number>;
  /** Its vocabulary writes bytes as characters of their own. */
  readonly #isByteLevel: boolean;
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
    const added = addedTokensOf(json, source);
    this.#added = new Map(added.map((token) => [token.id, token]));
    // Of two tokens of one text the first counts.
    this.#ids = new Map(added.toReversed().map(({ content, id }) => [content, id]));
    this.namedTokens = namedTokensOf(config);
    this.#isByteLevel = JSON.stringify(json['decoder'] ?? null).includes('"ByteLevel"');
    try {
      this.#template = new HuggingFaceTokenizer(json, config);
      this.#plain = new HuggingFaceTokenizer(withoutAddedTokens(json, added), config);
      this.#known = new Set(
        [...this.#template.get_vocab()].flatMap(([token, id]) => (token === undefined ? [] : [id])),
      );
      let size = 0;
      for (const id of this.#known) size = Math.max(size, id + 1);
      this.vocabularySize = size;
      this.mostCharsOfToken = keepsCharacters(json)
        ? longestOf(this.#template) * (isRecord(json['normalizer']) ? mostComposed : 1)
        : Infinity;
    } catch (cause) {
      throw invalid(source, 'it describes no tokenizer that can be built', cause);
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
    return this.#template.encode(text, { add_special_tokens: false }).ids;
  }

  /** Ids of text that someone wrote: control tokens in it are spelt out, and decode to the same characters. */
  encodePlain(text: string): number[] {
    return this.#plain.encode(text, { add_special_tokens: false }).ids;
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
    const known = [...this.#added.values()].map((token) => token.content).join(' ');
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `The tokenizer has no control token "${content}". It has: ${known}`,
    );
  }

  /** Whether an id is a control token: one that `encodePlain` never gives. */
  isControl(id: number): boolean {
    return this.#added.has(id);
  }

  /** Whether an id is a control token marked special: those that frame turns, not `<think>` or `<tool_call>`. */
  isSpecial(id: number): boolean {
    return this.#added.get(id)?.special ?? false;
  }
}

type TokenizerJson = Readonly<Record<string, unknown>> & {
  model: Readonly<Record<string, unknown>>;
};

function checked(json: unknown, source: string): TokenizerJson {
  if (!isRecord(json) || !isRecord(json['model'])) throw invalid(source, 'it has no "model"');
  const { type, vocab, merges } = json['model'];
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
  return { ...json, model: json['model'] };
}

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

function longestOf(tokenizer: HuggingFaceTokenizer): number {
  let longest = 1;
  for (const [token] of tokenizer.get_vocab()) longest = Math.max(longest, token?.length ?? 0);
  return longest;
}

/** The same tokenizer, unable to give an added token, not even by merging its characters. */
function withoutAddedTokens(json: TokenizerJson, added: readonly AddedToken[]): object {
  const names = new Set(added.map(({ content }) => content));
  const vocab = isRecord(json.model['vocab']) ? json.model['vocab'] : {};
  // What is merged is in the vocabulary. Copying a large one costs more than building the tokenizer.
  if (added.every(({ content }) => !Object.hasOwn(vocab, content)))
    return { ...json, added_tokens: [] };
  const merges = json.model['merges'] as readonly unknown[];
  return {
    ...json,
    added_tokens: [],
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
    const { id, content, special } = isRecord(token) ? token : {};
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
