import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { readMedquadXml } from '../../../dataset/prepare/readers/medquad-xml.ts';

/** A question of MedQuAD with its answer. */
export interface MedquadQuestion {
  text: string;
  answer: string;
  /** File of the page that the answer was cut from: questions of one page resemble one another. */
  page: string;
  /** Title of the page. */
  title: string;
  /** The answer's place among all. */
  index: number;
}

/** Documents to search, and which of them each question asks for. */
export interface Collection {
  name: string;
  documents: readonly SearchDocument[];
  targetOf: (question: MedquadQuestion) => string;
}

/** Every question of MedQuAD whose answer is there, in the order of files. */
export async function readMedquad(folder: string): Promise<MedquadQuestion[]> {
  const questions: MedquadQuestion[] = [];
  for (const page of xmlFiles(folder)) {
    for await (const item of readMedquadXml(page, { fetched: false })) {
      if (!('record' in item) || item.record.question === undefined) continue;
      const { documents, question } = item.record;
      const [document] = documents;
      if (document === undefined || document.text.trim() === '') continue;
      const { title, text: answer } = document;
      questions.push({ text: question.text, answer, page, title, index: questions.length });
    }
  }
  return questions;
}

/** MedQuAD twice: a page with all its answers as one document, and every answer as its own. */
export function collectionsOf(questions: readonly MedquadQuestion[]): Collection[] {
  const pages = new Map<string, SearchDocument>();
  for (const { page, title, answer } of questions) {
    const before = pages.get(page);
    const text = before === undefined ? answer : `${before.text}\n\n${answer}`;
    pages.set(page, { id: page, title, text });
  }
  const answerId = ({ page, index }: MedquadQuestion): string =>
    `${page}#${String(index).padStart(5, '0')}`;
  const answers = questions.map((question) => ({
    id: answerId(question),
    title: question.title,
    text: question.answer,
  }));
  return [
    { name: 'pages', documents: [...pages.values()], targetOf: ({ page }) => page },
    { name: 'answers', documents: answers, targetOf: answerId },
  ];
}

const xmlFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.xml'))
    .map((name) => join(folder, name))
    .toSorted();
