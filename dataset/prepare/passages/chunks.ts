import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { plainText } from '../plain-text.ts';
import { firstAlike } from './near-duplicates.ts';
import { splitPassages, type PassageOptions } from './split-passages.ts';

/** A passage that is kept once, whatever number of documents has it. A line of chunks.jsonl. */
export interface Chunk {
  /** The first document's id and the passage's number in it. */
  id: string;
  /** The document whose text and offsets these are. */
  document_id: string;
  /** Documents that have this passage or one much like it, that one first. */
  documentIds: readonly string[];
  title: string;
  text: string;
  url?: string;
  /** `text` is `document.text.slice(start, end)`. */
  start: number;
  end: number;
}

/** Where a passage of a document went. */
export interface PlacedPassage {
  start: number;
  end: number;
  /** Index of its chunk. */
  chunk: number;
}

export interface ChunkOptions extends PassageOptions {
  /** Jaccard similarity from which passages count as one; 1 for the same words only. */
  nearDuplicateThreshold: number;
}

export interface Chunked {
  chunks: readonly Chunk[];
  /** Passages of each document, by its id, in order. */
  placed: ReadonlyMap<string, readonly PlacedPassage[]>;
  passages: number;
  /** Passages that repeat another with the same words, and with nearly the same. */
  exactDuplicates: number;
  nearDuplicates: number;
  meanTokens: number;
  mostTokens: number;
}

/** Cuts documents into passages and keeps each once. */
export function chunkDocuments(
  documents: readonly SearchDocument[],
  options: ChunkOptions,
): Chunked {
  const passages = documents.flatMap((document) =>
    splitPassages(document.text, options).map((passage, number) =>
      Object.assign(passage, { id: `${document.id}-${number}`, document }),
    ),
  );
  const texts = passages.map(({ text }) => text);
  const alike = firstAlike(texts, options.nearDuplicateThreshold);
  const chunkOf = new Map<number, number>();
  const parents: Set<string>[] = [];
  const kept: (typeof passages)[number][] = [];
  const placed = new Map<string, PlacedPassage[]>(documents.map(({ id }) => [id, []]));
  for (const [index, passage] of passages.entries()) {
    const { document, start, end } = passage;
    const first = alike[index] ?? index;
    const chunk = chunkOf.get(first) ?? kept.push(passage) - 1;
    chunkOf.set(first, chunk);
    (parents[chunk] ??= new Set()).add(document.id);
    placed.get(document.id)?.push({ start, end, chunk });
  }
  const tokens = passages.map((passage) => passage.tokens);
  const exactDuplicates = texts.length - new Set(texts.map(plainText)).size;
  return {
    chunks: kept.map(({ id, document, text, start, end }, chunk) => ({
      id,
      document_id: document.id,
      documentIds: [...(parents[chunk] ?? [])],
      title: document.title,
      text,
      ...(document.url === undefined ? {} : { url: document.url }),
      start,
      end,
    })),
    placed,
    passages: passages.length,
    exactDuplicates,
    nearDuplicates: passages.length - kept.length - exactDuplicates,
    meanTokens: tokens.reduce((sum, one) => sum + one, 0) / Math.max(1, tokens.length),
    mostTokens: tokens.reduce((most, one) => Math.max(most, one), 0),
  };
}
