import { labelText } from '../../../agent_rl/core/tasks/decimal-text.ts';
import { showValue } from '../../../agent_rl/core/show-value.ts';
import { drop, problem, type SourceDocument, type SourceItem } from '../source-record.ts';
import type { Row } from './read-rows.ts';

/** Which column of a table holds what; a dot goes into an object, as in `answers.text`. */
export interface ColumnMap {
  question?: string;
  answer?: string;
  aliases?: string;
  text?: string;
  title?: string;
  url?: string;
  /** The source's own id of the document. */
  documentId?: string;
  questionId?: string;
  /** Columns that go into the question's metadata. */
  keep?: readonly string[];
}

/** What a column map can name one column for. */
export const mappable = [
  'question',
  'answer',
  'aliases',
  'text',
  'title',
  'url',
  'documentId',
  'questionId',
] as const satisfies readonly (keyof ColumnMap)[];

/** The columns of lavita/MedQuAD. */
export const medquadColumns: ColumnMap = {
  question: 'question',
  answer: 'answer',
  title: 'question_focus',
  url: 'document_url',
  questionId: 'question_id',
  keep: ['document_source', 'question_type', 'question_focus', 'category'],
};

/** A value by its path, `answers.text`; a column whose own name has dots wins. */
function valueAt(row: Row, path: string): unknown {
  if (path in row) return row[path];
  let value: unknown = row;
  for (const key of path.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as Row)[key] : undefined;
  }
  return value;
}

const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

/** Texts of a cell: one, several, or none. A cell of any other type is a problem. */
function textsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (isScalar(value)) return [labelText(value)];
  if (Array.isArray(value) && value.every(isScalar)) return value.map(labelText);
  return undefined;
}

/**
 * The record of one row by a column map: a document, and a question when the map has one. The document's text
 * is the text column's, or the answer where no text column is mapped.
 *
 * @param fetched The text will come from the address, so an absent one is no reason to drop.
 */
export function recordOfRow(
  row: Row,
  where: string,
  { columns, fetched }: { columns: ColumnMap; fetched: boolean },
): SourceItem {
  const cells: Partial<Record<(typeof mappable)[number], readonly string[]>> = {};
  for (const name of mappable) {
    const path = columns[name];
    if (path === undefined) continue;
    const value = valueAt(row, path);
    const texts = textsOf(value);
    if (texts === undefined) {
      const seen = showValue(value);
      return problem(where, `${path} is ${seen}; expected text, a number or a list of them.`);
    }
    cells[name] = texts.map((text) => text.trim()).filter((text) => text !== '');
  }
  const one = (name: (typeof mappable)[number]): string => cells[name]?.[0] ?? '';
  const asks = columns.question !== undefined;
  if (asks && one('question') === '') return drop(where, 'no-question');
  if (asks && one('answer') === '') return drop(where, 'no-answer', one('question'));
  const text = columns.text === undefined ? one('answer') : (cells.text ?? []).join('\n\n');
  if (text === '' && !fetched) return drop(where, 'no-text', one('title') || one('url'));
  if (fetched && one('url') === '') return drop(where, 'no-url', one('title'));
  const document: SourceDocument = {
    title: one('title'),
    text: fetched ? '' : text,
    ...(one('url') === '' ? {} : { url: one('url') }),
    ...(one('documentId') === '' ? {} : { sourceId: one('documentId') }),
  };
  if (!asks) return { record: { where, documents: [document] } };
  const keep = (columns.keep ?? []).flatMap((path) => {
    const value = valueAt(row, path);
    return value === undefined || value === null ? [] : [[path, plain(value)] as const];
  });
  return {
    record: {
      where,
      documents: [document],
      question: {
        id: one('questionId'),
        text: one('question'),
        answer: one('answer'),
        aliases: [...new Set([...(cells.answer ?? []).slice(1), ...(cells.aliases ?? [])])],
        relevant: [0],
        metadata: Object.fromEntries(keep),
      },
    },
  };
}

/** Parquet's 64-bit integers as JSON can hold them. */
const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Mapped columns that a row does not have at all: the user's mistake, not the row's. */
export function missingColumns(row: Row, columns: ColumnMap): readonly string[] {
  return [...mappable.flatMap((name) => columns[name] ?? []), ...(columns.keep ?? [])].filter(
    (path) => !(path in row) && !((path.split('.')[0] ?? '') in row),
  );
}
