import { showValue } from '../../../agent_rl/core/show-value.ts';
import type { SourceDocument, SourceItem } from '../source-record.ts';
import type { Row } from './read-rows.ts';

/**
 * A row of HotpotQA (Yang et al. 2018, https://arxiv.org/abs/1809.09600), as the hub has it
 * (`context: {title[], sentences[][]}`) or as its authors publish it (`context: [[title, [sentence]]]`). The
 * paragraphs that its supporting facts name are the relevant documents.
 */
export function recordOfHotpotRow(row: Row, where: string): SourceItem {
  const paragraphs = paragraphsOf(row['context']);
  const supporting = supportingTitles(row['supporting_facts']);
  const wrong = (text: string): SourceItem => ({ problem: { where, text } });
  if (paragraphs === undefined) {
    return wrong(
      `context is ${showValue(row['context'])}; expected {title[], sentences[][]} or [[title, [sentence]]].`,
    );
  }
  if (supporting === undefined) {
    return wrong(
      `supporting_facts is ${showValue(row['supporting_facts'])}; expected {title[], sent_id[]} or [[title, number]].`,
    );
  }
  const { question, answer } = row;
  const id = row['id'] ?? row['_id'];
  if (typeof question !== 'string' || question.trim() === '') {
    return { dropped: { reason: 'no-question', where, detail: '' } };
  }
  if (typeof answer !== 'string' || answer.trim() === '') {
    return { dropped: { reason: 'no-answer', where, detail: question } };
  }
  const documents = paragraphs.filter(({ text }) => text !== '');
  const relevant = documents.flatMap(({ title }, index) => (supporting.has(title) ? [index] : []));
  if (relevant.length === 0) {
    return { dropped: { reason: 'no-text', where, detail: 'no supporting paragraph in context' } };
  }
  const metadata = Object.fromEntries(
    ['type', 'level'].flatMap((key) => (typeof row[key] === 'string' ? [[key, row[key]]] : [])),
  );
  return {
    record: {
      where,
      documents,
      question: {
        id: typeof id === 'string' ? id : '',
        text: question.trim(),
        answer: answer.trim(),
        aliases: [],
        relevant,
        metadata,
      },
    },
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const paragraph = (title: string, sentences: readonly string[]): SourceDocument => ({
  title,
  text: sentences.join('').trim(),
});

function paragraphsOf(context: unknown): readonly SourceDocument[] | undefined {
  if (Array.isArray(context)) {
    const pairs: readonly unknown[] = context;
    const read = pairs.flatMap((pair) =>
      Array.isArray(pair) && typeof pair[0] === 'string' && isTexts(pair[1])
        ? [paragraph(pair[0], pair[1])]
        : [],
    );
    return read.length === pairs.length ? read : undefined;
  }
  if (typeof context !== 'object' || context === null) return undefined;
  const { title, sentences } = context as Row;
  if (!isTexts(title) || !Array.isArray(sentences) || title.length !== sentences.length) {
    return undefined;
  }
  const lists: readonly unknown[] = sentences;
  return lists.every(isTexts) ? title.map((name, i) => paragraph(name, lists[i] ?? [])) : undefined;
}

function supportingTitles(facts: unknown): ReadonlySet<string> | undefined {
  if (Array.isArray(facts)) {
    const titles: readonly unknown[] = facts.map((fact: unknown) =>
      Array.isArray(fact) ? (fact as readonly unknown[])[0] : undefined,
    );
    return isTexts(titles) ? new Set(titles) : undefined;
  }
  if (typeof facts !== 'object' || facts === null) return undefined;
  const { title } = facts as Row;
  return isTexts(title) ? new Set(title) : undefined;
}
