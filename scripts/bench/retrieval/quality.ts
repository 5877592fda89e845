import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { SearchBackend, SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { openCorpusBackend } from '../../../agent_rl/search/corpus/index.ts';
import type { FusionSettings } from '../../../agent_rl/search/corpus/settings.ts';
import { readMedquadXml } from '../../../dataset/prepare/readers/medquad-xml.ts';
import { note } from '../bench-run.ts';
import { indexDocuments } from './index-documents.ts';
import { wordSumEmbedder } from './speed.ts';

/** How well each way of searching finds the document that a question was made from. */
export interface QualityReport {
  sets: { documents: string; count: number; passages: number; indexS: number }[];
  results: {
    documents: string;
    way: string;
    questions: number;
    recallAt1: number;
    recallAt10: number;
    /** Mean reciprocal rank, 0 beyond the tenth. */
    mrrAt10: number;
  }[];
}

interface Question {
  text: string;
  target: string;
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

/**
 * Recall and MRR on MedQuAD, pages and single answers as documents, with sums of word vectors as the stand-in for a model.
 *
 * @param options `questions`: how many are asked; 0 for all
 */
export async function measureQuality(
  medquad: string,
  { work, questions }: { work: string; questions: number },
): Promise<QualityReport> {
  const report: QualityReport = { sets: [], results: [] };
  const embedder = wordSumEmbedder();
  for (const { name, documents, questions: all } of await readCollections(medquad)) {
    const asked =
      questions === 0 ? all : new KeyedRng('bench questions').shuffle(all).slice(0, questions);
    note(`Measuring: MedQuAD, ${documents.length} ${name}`);
    const output = join(work, name);
    const { passages, indexS } = await indexDocuments(documents, { output, embedder });
    report.sets.push({ documents: name, count: documents.length, passages, indexS });
    for (const { way, fusion } of ways) {
      const settings = { path: output, passagesPerDocument: 1 };
      const backend =
        fusion === undefined
          ? await openCorpusBackend(settings)
          : await openCorpusBackend({ ...settings, fusion }, { embedder });
      const measures = await measure(asked, backend);
      note(
        `  ${way}: recall@10 ${measures.recallAt10.toFixed(3)}, MRR@10 ${measures.mrrAt10.toFixed(3)}`,
      );
      report.results.push({ documents: name, way, questions: asked.length, ...measures });
    }
  }
  return report;
}

async function measure(questions: readonly Question[], backend: SearchBackend) {
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
    recallAt1: share((rank) => (rank === 1 ? 1 : 0)),
    recallAt10: share(() => 1),
    mrrAt10: share((rank) => 1 / rank),
  };
}

/** MedQuAD twice: a page with all its answers as one document, and every answer as its own. */
async function readCollections(folder: string) {
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
    .toSorted();
