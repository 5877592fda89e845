import { showValue } from '../../agent_rl/core/show-value.ts';
import type { GgufFile } from './gguf-file.ts';
import { addedToken } from '../text/added-token.ts';
import { invalid } from '../weights/safetensors-header.ts';

type Json = Readonly<Record<string, unknown>>;

const byteLevel = (useRegex: boolean): Json => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});

const splitBy = (regex: string): Json => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false },
    byteLevel(false),
  ],
});

/** Words of Llama 3 and Qwen2, which differ in how many digits stay together. */
const words = (digits: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

interface Splitting {
  preTokenizer: Json;
  normalizer?: Json;
  /** A word that is a token is not put together from its parts. */
  ignoreMerges?: boolean;
}

/** How text is cut before bytes are paired, by `tokenizer.ggml.pre`. */
const splittings: Readonly<Record<string, Splitting>> = {
  'gpt-2': { preTokenizer: byteLevel(true) },
  smollm: {
    preTokenizer: {
      type: 'Sequence',
      pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel(true)],
    },
  },
  qwen2: { preTokenizer: splitBy(words('\\p{N}')), normalizer: { type: 'NFC' } },
  'llama-bpe': { preTokenizer: splitBy(words('\\p{N}{1,3}')), ignoreMerges: true },
};

/** Kinds of tokens, by their number in the file. */
const kinds = { control: 3, userDefined: 4, unused: 5 } as const;

export interface TextFiles {
  /** tokenizer.json */
  tokenizer: Json;
  /** tokenizer_config.json, without the chat template */
  config: Json;
  /** The file's own. */
  chatTemplate: string | undefined;
}

/** @throws AgentRlError `MODEL_INVALID` for a tokenizer that is not read */
export function ggufText({ metadata, path }: GgufFile, maxPositions: number): TextFiles {
  const field = (name: string): unknown => metadata[`tokenizer.ggml.${name}`];
  if (field('model') !== 'gpt2')
    throw invalid(
      path,
      `its tokenizer is ${showValue(field('model'))}; only gpt2 (byte pairs) is supported`,
    );
  const pre = field('pre');
  const splitting =
    typeof pre === 'string' && Object.hasOwn(splittings, pre) ? splittings[pre] : undefined;
  if (splitting === undefined)
    throw invalid(
      path,
      `its tokenizer splits text as ${showValue(pre)}; supported: ${Object.keys(splittings).join(', ')}`,
    );
  const tokens = listOf(field('tokens'), 'tokens', path);
  const types = field('token_type');
  const kindOf = (id: number): unknown => (Array.isArray(types) ? types[id] : undefined);
  const isAdded = (id: number): boolean =>
    kindOf(id) === kinds.control || kindOf(id) === kinds.userDefined;
  const { preTokenizer, normalizer = null, ignoreMerges = false } = splitting;
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: tokens.flatMap((content, id) =>
      isAdded(id) ? [addedToken(id, content, kindOf(id) === kinds.control)] : [],
    ),
    normalizer,
    pre_tokenizer: preTokenizer,
    post_processor: null,
    decoder: { ...byteLevel(true), add_prefix_space: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoreMerges,
      // Added tokens too: Hugging Face's reader numbers those anew that are not here.
      vocab: Object.fromEntries(
        tokens.flatMap((token, id) => (kindOf(id) === kinds.unused ? [] : [[token, id]])),
      ),
      merges: listOf(field('merges'), 'merges', path),
    },
  };
  const template = metadata['tokenizer.chat_template'];
  const named = (name: string): string | undefined => {
    const id = field(`${name}_token_id`);
    return typeof id === 'number' ? tokens[id] : undefined;
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: named('bos') ?? null,
    eos_token: named('eos') ?? null,
    pad_token: named('padding') ?? null,
    model_max_length: maxPositions,
  };
  const chatTemplate = typeof template === 'string' ? template : undefined;
  return { tokenizer, config, chatTemplate };
}

function listOf(value: unknown, name: string, path: string): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw invalid(path, `tokenizer.ggml.${name} is ${showValue(value)}; expected a list of texts`);
}
