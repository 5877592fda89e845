import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Embedder, SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { buildCorpus, openCorpusBackend } from '../../../agent_rl/search/corpus/index.ts';
import type { FusionSettings } from '../../../agent_rl/search/corpus/settings.ts';
import { readMedquadXml } from '../../../dataset/prepare/readers/medquad-xml.ts';
import { fitLsaEmbedder } from './lsa-embedder.ts';

/** How well one way of searching finds the document a question was made from. */
export interface Quality {
  documents: string;
  way: string;
  questions: number;
  recallAt1: number;
  recallAt10: number;
  /** Mean reciprocal rank, 0 beyond the tenth. */
  mrrAt10: number;
}

export interface QualityReport {
  standIn: string;
  sets: readonly {
    documents: string;
    count: number;
    passages: number;
    indexS: number;
  }[];
  results: readonly Quality[];
}

interface Question {
  text: string;
  target: string;
}

interface Collection {
  name: string;
  documents: readonly SearchDocument[];
  questions: readonly Question[];
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

export interface QualityOptions {
  work: string;
  /** How many are asked; 0 for all. */
  questions: number;
  note: (text: string) => void;
}

const some = (questions: readonly Question[], count: number): readonly Question[] =>
  count === 0 ? questions : new KeyedRng('bench questions').shuffle(questions).slice(0, count);

/** Recall and MRR on MedQuAD, pages and single answers as documents, with LSA as the stand-in for a model. */
export async function measureQuality(
  medquad: string,
  { work, questions, note }: QualityOptions,
): Promise<QualityReport> {
  const sets: QualityReport['sets'][number][] = [];
  const results: Quality[] = [];
  const dimensions = 96;
  for (const whole of await readCollections(medquad)) {
    const collection = { ...whole, questions: some(whole.questions, questions) };
    const { name, documents } = collection;
    note(`Measuring: MedQuAD, ${documents.length} ${name}`);
    const embedder = fitLsaEmbedder(
      documents.map(({ title, text }) => `${title}\n${text}`),
      dimensions,
    );
    const output = join(work, name);
    const start = performance.now();
    const { manifest } = await buildCorpus({
      source: {
        sha256: name,
        files: [name],
        read: () => documents.map((document) => ({ document })),
      },
      output,
      embedder,
      version: 'bench',
    });
    const indexS = (performance.now() - start) / 1000;
    sets.push({
      documents: name,
      count: documents.length,
      passages: manifest.counts.passages,
      indexS,
    });
    for (const way of ways) {
      const result = await measure(collection, { ...way, output, embedder });
      note(
        `  ${way.way}: recall@10 ${result.recallAt10.toFixed(3)}, MRR@10 ${result.mrrAt10.toFixed(3)}`,
      );
      results.push(result);
    }
  }
  return { standIn: `LSA of the searched texts, ${dimensions} dimensions`, sets, results };
}

async function measure(
  { name, questions }: Collection,
  {
    way,
    fusion,
    output: path,
    embedder,
  }: { way: string; fusion?: FusionSettings; output: string; embedder: Embedder },
): Promise<Quality> {
  const backend =
    fusion === undefined
      ? await openCorpusBackend({ path, passagesPerDocument: 1 })
      : await openCorpusBackend({ path, fusion, passagesPerDocument: 1 }, { embedder });
  const ranks = await Promise.all(
    questions.map(async ({ text: query, target }) => {
      const hits = await backend.search({ query, topK: 10 });
      return hits.findIndex(({ documentId }) => documentId === target) + 1;
    }),
  );
  await backend.close();
  const share = (among: (rank: number) => number): number =>
    ranks.reduce((sum, rank) => sum + (rank > 0 ? among(rank) : 0), 0) / ranks.length;
  return {
    documents: name,
    way,
    questions: questions.length,
    recallAt1: share((rank) => (rank === 1 ? 1 : 0)),
    recallAt10: share(() => 1),
    mrrAt10: share((rank) => 1 / rank),
  };
}

/** MedQuAD twice: a page with all its answers as one document, and every answer as its own. */
async function readCollections(folder: string): Promise<readonly Collection[]> {
  const pages = new Map<string, SearchDocument>();
  const pageQuestions: Question[] = [];
  const answers: SearchDocument[] = [];
  const answerQuestions: Question[] = [];
  for (const file of xmlFiles(folder)) {
    for await (const item of readMedquadXml(file, { fetched: false })) {
      if (!('record' in item) || item.record.question === undefined) continue;
      const { documents, question } = item.record;
      const [document] = documents;
      if (document === undefined || document.text.trim() === '') continue;
      const before = pages.get(file);
      const text = before === undefined ? document.text : `${before.text}\n\n${document.text}`;
      pages.set(file, { id: file, title: document.title, text });
      pageQuestions.push({ text: question.text, target: file });
      const id = `${file}#${String(answers.length).padStart(5, '0')}`;
      answers.push({ id, title: document.title, text: document.text });
      answerQuestions.push({ text: question.text, target: id });
    }
  }
  return [
    { name: 'pages', documents: [...pages.values()], questions: pageQuestions },
    { name: 'answers', documents: answers, questions: answerQuestions },
  ];
}

const xmlFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.xml'))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .toSorted();
