import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Tokenizer } from 'tokenizers';

import { namePieces } from '../../dataset/workspace_tasks/generator/names.ts';
import { addedToken } from '../../model/text/added-token.ts';
import { inTemporaryFolder } from '../temporary-folder.ts';

/** Tokens of the template, in id order. Tags are not `special`: a decoded turn keeps them, so calls can be read. */
const markers = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const tags = ['tool_call', 'tool_response', 'think'].flatMap((tag) => [`<${tag}>`, `</${tag}>`]);

interface BpeJson {
  model: { merges: readonly (readonly [string, string])[] };
  [key: string]: unknown;
}

/**
 * Escaped newlines and digits are tokens of their own: programs travel inside JSON strings, where a line break is
 * `\n` glued to the next word, and numbers are copied digit by digit.
 */
export const codePieces = String.raw`\\n| ?\d`;

/** Digits again, and the first part of a name: names are copied part by part, so that every name can be written. */
export const searchPieces = String.raw` ?[A-Z][aeio][lnr](?=[a-z])| ?\d`;

/**
 * Both kinds of names, each as its own starter has it: workspace names end in ana, eno or iko, and are the same tokens
 * in a text and in a program. Where search names end so, they are written likewise.
 */
export const mixedPieces = String.raw` ?[A-Z][aeio][lnr](?=[a-z])(?![a-z](?:ana|eno|iko))|${namePieces}| ?\d`;

/** What byte-level BPE never joins: words with the space before them, numbers, signs and spaces (GPT-2's pattern). */
const words = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

const isolate = (pattern: string) => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
  invert: false,
});

const skeleton = ({ apart, phrases }: Pieces) => ({
  version: '1.0',
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      isolate(apart),
      isolate([...phrases, words].join('|')),
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: { type: 'BPE', vocab: {}, merges: [] },
});

/** What a tokenizer keeps together and apart. */
export interface Pieces {
  /** Regular expression of what is never joined with its neighbours. */
  apart: string;
  /** Phrases of several words, each learnt as one token. */
  phrases: readonly string[];
}

const printable = (byte: number): boolean =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;

/** The 256 characters that stand for bytes in byte-level BPE (GPT-2's table), by byte. */
function byteCharacters(): string[] {
  let shifted = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : shifted++),
  );
}

/**
 * Byte-level BPE of exactly `vocabSize` tokens: specials first, then the 256 bytes, then merges in the order learnt.
 *
 * The trainer takes no options, so it learns all merges and the first ones are kept.
 *
 * @returns the text of a tokenizer.json
 */
export const trainTokenizer = (
  texts: readonly string[],
  vocabSize: number,
  pieces: Pieces,
): Promise<string> =>
  inTemporaryFolder('agent-rl-tokenizer', async (folder) => {
    const corpus = join(folder, 'corpus.txt');
    await writeFile(corpus, texts.join('\n'));
    const trained = Tokenizer.fromString(JSON.stringify(skeleton(pieces)));
    trained.train([corpus]);
    const file = join(folder, 'tokenizer.json');
    trained.save(file);
    const json = JSON.parse(await readFile(file, 'utf8')) as BpeJson;
    return JSON.stringify(withVocabulary(json, vocabSize), null, 1);
  });

function withVocabulary(json: BpeJson, vocabSize: number): unknown {
  const fixed = [...markers, ...tags, ...byteCharacters()];
  const vocab = new Map(fixed.map((token, id) => [token, id]));
  const merges: (readonly [string, string])[] = [];
  for (const merge of json.model.merges) {
    if (vocab.size === vocabSize) break;
    merges.push(merge);
    const token = merge.join('');
    if (!vocab.has(token)) vocab.set(token, vocab.size);
  }
  if (vocab.size !== vocabSize) {
    throw new Error(`The corpus yields only ${vocab.size} tokens; ${vocabSize} are needed.`);
  }
  const added = [...markers, ...tags].map((content, id) =>
    addedToken(id, content, markers.includes(content)),
  );
  return {
    ...json,
    added_tokens: added,
    model: { ...json.model, vocab: Object.fromEntries(vocab), merges },
  };
}
