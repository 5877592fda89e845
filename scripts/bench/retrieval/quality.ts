import { join } from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Embedder, SearchBackend } from '../../../agent_rl/core/services/search.ts';
import { openCorpusBackend } from '../../../agent_rl/search/corpus/index.ts';
import { openEmbedder } from '../../../agent_rl/search/corpus/open-embedder.ts';
import type { FusionSettings } from '../../../agent_rl/search/corpus/settings.ts';
import { note } from '../bench-run.ts';
import { quantile } from '../statistics.ts';
import { gainByPage, meanByPage, type Measured, measuredText } from './by-page.ts';
import { indexDocuments } from './index-documents.ts';
import { type Collection, collectionsOf, type MedquadQuestion } from './medquad.ts';
import { chunksFor, plainModel, remembering } from './model-embedder.ts';
import { wordSumEmbedder } from './speed.ts';

/** How well each way of searching finds the document that a question was made from. */
export interface QualityReport {
  vectors: string;
  /** Share of questions that hold the title of their page word for word. */
  titleInQuestion: number;
  sets: {
    documents: string;
    count: number;
    passages: number;
    indexS: number;
    /** Of the process, once the index was built. */
    residentBytes: number;
  }[];
  results: WayReport[];
}

interface WayReport {
  documents: string;
  way: string;
  questions: number;
  recallAt1: Measured;
  recallAt10: Measured;
  /** Mean reciprocal rank, 0 beyond the tenth. */
  mrrAt10: Measured;
  /** MRR@10 less that of BM25 on the same questions; absent for BM25. */
  mrrGain: Measured | undefined;
  /** Of questions asked one after another, their vectors made anew. */
  p50Ms: number;
  p95Ms: number;
}

const ways: readonly { way: string; fusion?: FusionSettings }[] = [
  { way: 'BM25' },
  { way: 'vectors alone', fusion: { type: 'weighted', denseWeight: 1, textWeight: 0 } },
  { way: 'hybrid, reciprocal rank', fusion: { type: 'reciprocal_rank' } },
  {
    way: 'hybrid, ranks 0.8 / 0.2',
    fusion: { type: 'weighted', denseWeight: 0.8, textWeight: 0.2 },
  },
  {
    way: 'hybrid, ranks 0.2 / 0.8',
    fusion: { type: 'weighted', denseWeight: 0.2, textWeight: 0.8 },
  },
  {
    way: 'hybrid, scores 0.3 / 0.7',
    fusion: { type: 'weighted', of: 'scores', denseWeight: 0.3, textWeight: 0.7 },
  },
];

/** Questions of which each is timed. */
const timedQuestions = 200;

interface QualityOptions {
  work: string;
  /** How many are asked; 0 for all. */
  questions: number;
  /** Folder of an embedding model. Absent: sums of word vectors stand in for one. */
  model?: string | undefined;
}

/** Recall, MRR and latency on MedQuAD, pages and single answers as documents. */
export async function measureQuality(
  medquad: readonly MedquadQuestion[],
  { work, questions, model }: QualityOptions,
): Promise<QualityReport> {
  const shuffled = new KeyedRng('bench questions').shuffle([...medquad]);
  const asked = questions === 0 ? medquad : shuffled.slice(0, questions);
  const embedder = model === undefined ? wordSumEmbedder() : await openEmbedder(plainModel(model));
  const titled = asked.filter(({ text, title }) =>
    text.toLowerCase().includes(title.toLowerCase()),
  ).length;
  const report: QualityReport = {
    vectors: embedder.name,
    titleInQuestion: titled / asked.length,
    sets: [],
    results: [],
  };
  for (const collection of collectionsOf(medquad)) {
    const { name, documents } = collection;
    note(`Measuring: MedQuAD, ${documents.length} ${name}, vectors by ${embedder.name}`);
    const output = join(work, name);
    const settings = model === undefined ? {} : chunksFor(model);
    const built = await indexDocuments(documents, { output, embedder, settings });
    const residentBytes = process.memoryUsage.rss();
    report.sets.push({ documents: name, count: documents.length, ...built, residentBytes });
    report.results.push(...(await measureWays(collection, { output, asked, embedder })));
  }
  await embedder.close();
  return report;
}

async function measureWays(
  collection: Collection,
  options: { output: string; asked: readonly MedquadQuestion[]; embedder: Embedder },
): Promise<WayReport[]> {
  const { output: path, asked, embedder } = options;
  const remembered = remembering(embedder);
  const open = (own: Embedder, fusion: FusionSettings | undefined): Promise<SearchBackend> => {
    const settings = { path, passagesPerDocument: 1 };
    return fusion === undefined
      ? openCorpusBackend(settings)
      : openCorpusBackend({ ...settings, fusion }, { embedder: own });
  };
  const reports: WayReport[] = [];
  let byWords: ReturnType<typeof reciprocals> = [];
  for (const { way, fusion } of ways) {
    const ranks = await ranksBy(await open(remembered, fusion), asked, collection);
    const mrr = reciprocals(asked, ranks);
    if (fusion === undefined) byWords = mrr;
    const within = (most: number): Measured =>
      meanByPage(
        asked.map(({ page }, index) => {
          const rank = ranks[index] ?? 0;
          return { page, value: rank > 0 && rank <= most ? 1 : 0 };
        }),
      );
    const measures = { recallAt1: within(1), recallAt10: within(10), mrrAt10: meanByPage(mrr) };
    note(
      `  ${way}: recall@10 ${measuredText(measures.recallAt10)}, MRR@10 ${measuredText(measures.mrrAt10)}`,
    );
    reports.push({
      documents: collection.name,
      way,
      questions: asked.length,
      ...measures,
      mrrGain: fusion && gainByPage(byWords, mrr),
      ...(await latency(await open(embedder, fusion), asked)),
    });
  }
  return reports;
}

/** The place of each question's document among the first ten hits, from 1; 0 where it is not among them. */
async function ranksBy(
  backend: SearchBackend,
  asked: readonly MedquadQuestion[],
  { targetOf }: Collection,
): Promise<number[]> {
  const ranks = await Promise.all(
    asked.map(async (question) => {
      const hits = await backend.search({ query: question.text, topK: 10 });
      return hits.findIndex(({ documentId }) => documentId === targetOf(question)) + 1;
    }),
  );
  await backend.close();
  return ranks;
}

const reciprocals = (asked: readonly MedquadQuestion[], ranks: readonly number[]) =>
  ranks.map((rank, index) => ({
    page: asked[index]?.page ?? '',
    value: rank === 0 ? 0 : 1 / rank,
  }));

async function latency(backend: SearchBackend, asked: readonly MedquadQuestion[]) {
  const times: number[] = [];
  for (const { text: query } of asked.slice(0, timedQuestions)) {
    const start = performance.now();
    await backend.search({ query, topK: 10 });
    times.push(performance.now() - start);
  }
  await backend.close();
  return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) };
}
