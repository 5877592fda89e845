import { join } from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type {
  Embedder,
  SearchBackend,
  SearchDocument,
} from '../../../agent_rl/core/services/search.ts';
import { openCorpusBackend } from '../../../agent_rl/search/corpus/index.ts';
import { quantile } from '../statistics.ts';
import { indexDocuments } from './index-documents.ts';

export interface SpeedReport {
  passages: number;
  vectorIndex: 'flat' | 'hnsw';
  /** Whole build, vectors included. */
  indexS: number;
  /** Of it, making the vectors. */
  embedS: number;
  openS: number;
  latencies: Awaited<ReturnType<typeof measureLatency>>[];
}

const dimensions = 384;
const vocabularySize = 20_000;
const wordsPerPassage = 80;
const queries = 200;

/** Words as common as Zipf's law has them, so that lists of a word are long and short as in a language. */
function makeDocuments(count: number): SearchDocument[] {
  const rng = new KeyedRng('bench retrieval', count);
  const word = (): string => `w${Math.floor(vocabularySize ** rng.uniform())}`;
  return Array.from({ length: count }, (_, index) => ({
    id: `p${String(index).padStart(7, '0')}`,
    title: '',
    text: Array.from({ length: wordsPerPassage }, word).join(' '),
  }));
}

/** Sum of a fixed random vector for each word: near when words are shared, and quickly made. */
export function wordSumEmbedder(): Embedder & { seconds: () => number } {
  const rows = new Map<string, Float32Array>();
  const rowOf = (word: string): Float32Array => {
    const known = rows.get(word);
    if (known !== undefined) return known;
    const rng = new KeyedRng('bench word', word);
    const row = Float32Array.from({ length: dimensions }, () => rng.uniform() - 0.5);
    rows.set(word, row);
    return row;
  };
  const vectorOf = (text: string): Float32Array => {
    const sum = new Float32Array(dimensions);
    for (const word of text.split(' ')) {
      const row = rowOf(word);
      for (let axis = 0; axis < dimensions; axis++) sum[axis] = (sum[axis] ?? 0) + (row[axis] ?? 0);
    }
    const length = Math.hypot(...sum);
    return sum.map((value) => value / length);
  };
  let spent = 0;
  return {
    name: 'sum of word vectors',
    embed: async (texts) => {
      const start = performance.now();
      const vectors = texts.map(vectorOf);
      spent += (performance.now() - start) / 1000;
      return vectors;
    },
    close: async () => {},
    seconds: () => spent,
  };
}

/** Index time and latencies at a size. */
export async function measureSpeed(
  passages: number,
  { work, vectorIndex }: Pick<SpeedReport, 'vectorIndex'> & { work: string },
): Promise<SpeedReport> {
  const documents = makeDocuments(passages);
  const embedder = wordSumEmbedder();
  const path = join(work, `${passages}-${vectorIndex}`);
  const annFrom = vectorIndex === 'hnsw' ? 1 : passages + 1;
  const settings = { annFrom, text: { stem: false, removeStopWords: false } };
  const { indexS } = await indexDocuments(documents, { output: path, embedder, settings });
  const embedS = embedder.seconds();
  const opening = performance.now();
  const words = await openCorpusBackend({ path });
  const openS = (performance.now() - opening) / 1000;
  const both = await openCorpusBackend({ path }, { embedder });
  const latencies = [
    await measureLatency('BM25', words, documents),
    await measureLatency('hybrid', both, documents),
  ];
  await Promise.all([words.close(), both.close()]);
  return { passages, vectorIndex, indexS, embedS, openS, latencies };
}

function makeQueries(documents: readonly SearchDocument[]) {
  const rng = new KeyedRng('bench queries', documents.length);
  return Array.from({ length: queries }, () => {
    const { id, text } = rng.pick(documents);
    return { id, query: rng.shuffle(text.split(' ')).slice(0, 8).join(' ') };
  });
}

/**
 * Times of one way of searching, one by one and with so many asked at once, and the share of queries whose passage is
 * among the first ten.
 */
async function measureLatency(
  way: string,
  backend: SearchBackend,
  documents: readonly SearchDocument[],
) {
  const asked = makeQueries(documents);
  let found = 0;
  const one = async ({ id, query }: { id: string; query: string }): Promise<number> => {
    const start = performance.now();
    const hits = await backend.search({ query, topK: 10 });
    if (hits.some(({ documentId }) => documentId === id)) found += 1;
    return performance.now() - start;
  };
  for (const query of asked.slice(0, 10)) await one(query);
  found = 0;
  const times: number[] = [];
  for (const query of asked) times.push(await one(query));
  const recallAt10 = found / asked.length;
  const atOnce = [];
  for (const count of [8, 64, 200]) {
    const start = performance.now();
    const waits = await Promise.all(asked.slice(0, count).map(one));
    const perSecond = (1000 * count) / (performance.now() - start);
    atOnce.push({ queries: count, perSecond, p95Ms: quantile(waits, 0.95) });
  }
  return { way, p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95), atOnce, recallAt10 };
}
