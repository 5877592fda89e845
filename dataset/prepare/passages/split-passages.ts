import { split } from 'llm-splitter';

import type { TokenCounter } from './token-counter.ts';
import { largest } from '../../../agent_rl/core/long-lists.ts';

export interface PassageOptions {
  tokens: TokenCounter;
  /** Most tokens of a passage. */
  chunkTokens: number;
  /** Tokens, about, that a passage repeats of the one before. */
  overlapTokens: number;
}

/** A part of a text: `text.slice(start, end)`, in UTF-16 units. */
export interface Passage {
  text: string;
  start: number;
  end: number;
  tokens: number;
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Cuts a text into passages of at most `chunkTokens` tokens: as many whole sentences as fit; a longer sentence is
 * cut between words, a longer word inside. Every character that is not a space is in a passage, in order.
 */
export function splitPassages(text: string, options: PassageOptions): readonly Passage[] {
  const { chunkTokens, overlapTokens, tokens: counter } = options;
  for (let size = chunkTokens; ;) {
    const overlap = Math.min(overlapTokens, size - 1);
    const passages = attempt(text, { tokens: counter, chunkTokens: size, overlapTokens: overlap });
    const most = largest(
      passages.map(({ tokens }) => tokens),
      0,
    );
    if (most <= chunkTokens || size === 1) return passages;
    // Tokens are counted sentence by sentence, and a letter of several tokens as one: both can fall short.
    size = Math.max(1, Math.min(size - 1, Math.floor((size * chunkTokens) / most)));
  }
}

function attempt(text: string, options: PassageOptions): Passage[] {
  const { tokens: counter, chunkTokens, overlapTokens } = options;
  const pieces = [...sentences.segment(text)].flatMap(({ segment }) =>
    counter.estimate(segment) > chunkTokens ? words(segment) : [segment],
  );
  const chunks = split(pieces, {
    chunkSize: chunkTokens,
    chunkOverlap: overlapTokens,
    chunkStrategy: 'paragraph',
    splitter: (piece) => tokenShares(piece, counter.estimate(piece)),
  });
  return atWords(text, chunks).flatMap(({ start, end }) => {
    const part = text.slice(start, end).trim();
    if (part === '') return [];
    const from = text.indexOf(part, start);
    return [{ text: part, start: from, end: from + part.length, tokens: counter.count(part) }];
  });
}

const words = (text: string): readonly string[] => text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];

/**
 * As many parts as tokens, or one for each letter where tokens are more: the splitter counts parts, and cuts a
 * piece between them only when it does not fit as a whole.
 */
function tokenShares(piece: string, tokens: number): { text: string; start: number }[] {
  const letters = Array.from(piece);
  const parts = Math.min(tokens, letters.length);
  const shares: { text: string; start: number }[] = [];
  let start = 0;
  for (let part = 0; part < parts; part += 1) {
    const from = Math.floor((part * letters.length) / parts);
    const to = Math.floor(((part + 1) * letters.length) / parts);
    const share = letters.slice(from, to).join('');
    shares.push({ text: share, start });
    start += share.length;
  }
  return shares;
}

type Span = Pick<Passage, 'start' | 'end'>;

const insideWord = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /^\S\S$/.test(text.slice(at - 1, at + 1));

/** Moves cuts inside a word to its edge where the passage before or after has the whole word. */
function atWords(text: string, chunks: readonly Readonly<Span>[]): Span[] {
  const spans = chunks.map(({ start, end }) => ({ start, end }));
  for (const [index, span] of spans.entries()) {
    const before = spans[index - 1];
    if (before === undefined) continue;
    let start = span.start;
    while (insideWord(text, start)) start += 1;
    if (start <= before.end && start < span.end) span.start = start;
    let end = before.end;
    while (insideWord(text, end)) end -= 1;
    if (end >= span.start && end > before.start) before.end = end;
  }
  return spans;
}
