import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { showValue } from '../../../agent_rl/core/show-value.ts';
import { drop, problem, type SourceDocument, type SourceItem } from '../source-record.ts';
import type { Row } from './read-rows.ts';

/**
 * A row of HotpotQA (Yang et al. 2018, https://arxiv.org/abs/1809.09600), as the hub has it
 * (`context: {title[], sentences[][]}`) or as its authors publish it (`context: [[title, [sentence]]]`). The
 * paragraphs that its supporting facts name are the relevant documents.
 */
export function recordOfHotpotRow(row: Row, where: string): SourceItem {
  const paragraphs = paragraphsOf(row['context']);
  const supporting = supportingTitles(row['supporting_facts']);
  if (paragraphs === undefined) {
    return problem(
      where,
      `context is ${showValue(row['context'])}; expected {title[], sentences[][]} or [[title, [sentence]]].`,
    );
  }
  if (supporting === undefined) {
    return problem(
      where,
      `supporting_facts is ${showValue(row['supporting_facts'])}; expected {title[], sent_id[]} or [[title, number]].`,
    );
  }
  const { question, answer } = row;
  const id = row['id'] ?? row['_id'];
  if (typeof question !== 'string' || question.trim() === '') return drop(where, 'no-question');
  if (typeof answer !== 'string' || answer.trim() === '') return drop(where, 'no-answer', question);
  const documents = paragraphs.filter(({ text }) => text !== '');
  const relevant = documents.flatMap(({ title }, index) => (supporting.has(title) ? [index] : []));
  if (relevant.length === 0) return drop(where, 'no-text', 'no supporting paragraph in context');
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

/** A column of either layout, as a list of its titles and one of what belongs to each. */
function byTitle(column: unknown, belonging: string): [titles: unknown, unknown] | undefined {
  if (Array.isArray(column)) {
    const pairs = column.map((pair: unknown): unknown[] => (Array.isArray(pair) ? pair : []));
    return [pairs.map(([title]) => title), pairs.map(([, other]) => other)];
  }
  return isRecord(column) ? [column['title'], column[belonging]] : undefined;
}

function paragraphsOf(context: unknown): readonly SourceDocument[] | undefined {
  const [titles, sentences] = byTitle(context, 'sentences') ?? [];
  if (!isTexts(titles) || !Array.isArray(sentences) || titles.length !== sentences.length) {
    return undefined;
  }
  const lists: readonly unknown[] = sentences;
  if (!lists.every(isTexts)) return undefined;
  return titles.map((title, i) => ({ title, text: lists[i]!.join('').trim() }));
}

function supportingTitles(facts: unknown): ReadonlySet<string> | undefined {
  const [titles] = byTitle(facts, 'sent_id') ?? [];
  return isTexts(titles) ? new Set(titles) : undefined;
}
