import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Tokenizer } from '@huggingface/tokenizers';
import { split } from 'llm-splitter';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { SearchDocument } from '../../core/services/search.ts';
import { type Passage, wholeDocument } from './passage.ts';
import type { ChunkingSettings } from './settings.ts';
import { append } from '../../core/long-lists.ts';

/** Cuts a document into passages, or leaves a short one whole. */
export type Chunker = (document: SearchDocument) => readonly Passage[];

const defaultTokens = 256;

interface Part {
  text: string;
  start: number;
}

const isLowSurrogate = (text: string, at: number): boolean =>
  at > 0 && /[\uDC00-\uDFFF]/.test(text.charAt(at));

/** A word in as many pieces as it has tokens: the splitter counts pieces. */
function piecesOf(word: string, start: number, tokens: number): Part[] {
  const pieces: Part[] = [];
  let from = 0;
  for (let index = 1; index <= tokens; index++) {
    let to = Math.floor((index * word.length) / tokens);
    if (isLowSurrogate(word, to)) to--;
    if (to > from) pieces.push({ text: word.slice(from, to), start: start + from });
    from = to;
  }
  return pieces;
}

function partsOf(text: string, tokensOf: (word: string) => number): Part[] {
  const parts: Part[] = [];
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    append(parts, piecesOf(word, index, tokensOf(word)));
  }
  return parts;
}

/** Where the word that `at` cuts begins, unless it begins before `floor`. */
function wordStart(text: string, at: number, floor: number): number {
  if (!/\S/.test(text.charAt(at))) return at;
  let start = at;
  while (start > floor && /\S/.test(text.charAt(start - 1))) start--;
  return start > floor ? start : at;
}

function trimmed(text: string, start: number, end: number): { start: number; end: number } {
  const piece = text.slice(start, end);
  const lead = piece.length - piece.trimStart().length;
  return { start: start + lead, end: start + lead + piece.trim().length };
}

/** The problem of an overlap as long as a passage. */
export const overlapProblem = ({
  tokens = defaultTokens,
  overlap = 0,
}: ChunkingSettings): string | undefined =>
  overlap < tokens
    ? undefined
    : `chunking.overlap is ${overlap}, but passages have ${tokens} tokens (chunking.tokens). Set a smaller overlap.`;

/**
 * Makes the chunker that settings describe: passages of that number of tokens, paragraphs kept whole where they fit.
 * Tokens are a tokenizer's, counted word by word, or words where none is named. A word that a border cuts goes
 * whole to the later passage, which may then have some tokens more; blank documents have no passage.
 *
 * @throws AgentRlError `TOKENIZER_INVALID`, `CONFIG_INVALID`
 */
export async function makeChunker(settings: ChunkingSettings = {}): Promise<Chunker> {
  const { tokens: chunkSize = defaultTokens, overlap: chunkOverlap = 0, tokenizer } = settings;
  const problem = overlapProblem(settings);
  if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', problem);
  const tokensOf = tokenizer === undefined ? () => 1 : await tokenCounter(tokenizer);
  const splitter = (text: string): Part[] => partsOf(text, tokensOf);
  return (document) => {
    const { text } = document;
    if (text.trim() === '') return [];
    const chunks = split(text, { chunkSize, chunkOverlap, splitter, chunkStrategy: 'paragraph' });
    if (chunks.length < 2) return [wholeDocument(document)];
    const last = chunks.length - 1;
    return chunks
      .map(({ start, end }, index) => {
        const from = index === 0 ? start : wordStart(text, start, chunks[index - 1]?.start ?? 0);
        return trimmed(text, from, index === last ? end : wordStart(text, end, start));
      })
      .filter(({ start, end }) => end > start)
      .map((place) =>
        Object.assign(wholeDocument(document), place, { text: text.slice(place.start, place.end) }),
      );
  };
}

/** Counts the tokens of a word as it stands after a space. */
async function tokenCounter(folder: string): Promise<(word: string) => number> {
  const file = join(folder, 'tokenizer.json');
  const tokenizer = await readTokenizer(file);
  const counts = new Map<string, number>();
  return (word) => {
    const known = counts.get(word);
    if (known !== undefined) return known;
    const { ids } = tokenizer.encode(` ${word}`, { add_special_tokens: false });
    const count = Math.max(1, ids.length);
    // Texts repeat their words; what they do not repeat need not be remembered.
    if (counts.size < 200_000) counts.set(word, count);
    return count;
  };
}

async function readTokenizer(file: string): Promise<Tokenizer> {
  try {
    return new Tokenizer(JSON.parse(await readFile(file, 'utf8')) as object, {});
  } catch (cause) {
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `chunking.tokenizer: ${file} cannot be used (${messageOf(cause)}). Choose a folder with tokenizer.json, or remove the setting to count words.`,
      { cause },
    );
  }
}
