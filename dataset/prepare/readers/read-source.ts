import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { fileLines } from '../../../agent_rl/core/wire/file-lines.ts';
import { tableLimits, unreadable } from '../../tables/json-lines.ts';
import { isTable } from '../../tables/read-table.ts';
import { tableEnding as ending } from '../../tables/row-unit.ts';
import { canonicalUrl } from '../document-id.ts';
import { drop, type SourceItem } from '../source-record.ts';
import { recordOfHotpotRow } from './hotpotqa.ts';
import { type ColumnMap, medquadColumns, missingColumns, recordOfRow } from './mapped-rows.ts';
import { readMedquadXml } from './medquad-xml.ts';
import { readRows, type Row } from './read-rows.ts';

/** What the records of a source look like. */
export const sourceFormats = ['medquad', 'hotpotqa', 'records', 'urls'] as const;
export type SourceFormat = (typeof sourceFormats)[number];

export interface ReadSourceOptions {
  format: SourceFormat;
  /** Columns the user mapped; they override the format's. */
  columns: ColumnMap;
  /** The documents' texts come from their addresses, not from the source. */
  fetched: boolean;
}

/** Columns by which a table is known for what it is. */
const marks: readonly (readonly [SourceFormat, readonly string[]])[] = [
  ['hotpotqa', ['question', 'answer', 'context', 'supporting_facts']],
  ['medquad', ['question', 'answer', 'question_focus', 'document_url']],
];

/**
 * What a source's files are, by their endings and, for tables, the columns of the first row.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the files are of several kinds, `DATASET_INVALID` when unreadable.
 */
export async function detectFormat(
  files: readonly string[],
  mapped: ColumnMap,
): Promise<SourceFormat> {
  const endings = [...new Set(files.map(ending))];
  if (endings.every((one) => one === '.xml')) return 'medquad';
  if (endings.every((one) => one === '.txt')) return 'urls';
  const [first] = files;
  if (first === undefined || !files.every(isTable)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The source holds files of several kinds (${endings.join(', ')}). Give a folder or file of one kind.`,
    );
  }
  if (Object.keys(mapped).length > 0) return 'records';
  for await (const read of readRows(first)) {
    if ('problem' in read) continue;
    const known = marks.find(([, columns]) => columns.every((column) => column in read.row));
    return known?.[0] ?? 'records';
  }
  return 'records';
}

/**
 * Everything a source holds, file after file.
 *
 * @yields Records, what is dropped, and problems.
 * @throws AgentRlError `CONFIG_INVALID` for columns that are not there, `DATASET_INVALID` for unreadable files.
 */
export async function* readSource(
  files: readonly string[],
  options: ReadSourceOptions,
): AsyncGenerator<SourceItem> {
  for (const file of files) {
    if (options.format === 'urls') yield* readUrlList(file);
    else if (ending(file) === '.xml') yield* readMedquadXml(file, options);
    else yield* readTable(file, options);
  }
}

/** @yields A record for each address, one a line; blank lines and lines that begin with # are skipped. */
async function* readUrlList(file: string): AsyncGenerator<SourceItem> {
  try {
    for await (const { line: number, bytes } of fileLines(file, tableLimits.lineBytes)) {
      const url = bytes.toString().trim();
      if (url === '' || url.startsWith('#')) continue;
      const where = `${file}:${number}`;
      yield canonicalUrl(url) === undefined
        ? drop(where, 'bad-url', url)
        : { record: { where, documents: [{ url, title: '', text: '' }] } };
    }
  } catch (cause) {
    if (AgentRlError.is(cause)) throw cause;
    throw unreadable(file, cause, 'Give a text file with one address a line.');
  }
}

async function* readTable(
  file: string,
  { format, columns, fetched }: ReadSourceOptions,
): AsyncGenerator<SourceItem> {
  const map = format === 'medquad' ? { ...medquadColumns, ...columns } : columns;
  const hotpot = format === 'hotpotqa';
  let checked = hotpot;
  for await (const read of readRows(file)) {
    if ('problem' in read) {
      yield read;
      continue;
    }
    if (!checked) checkColumns(read.row, read.where, map);
    checked = true;
    yield hotpot
      ? recordOfHotpotRow(read.row, read.where)
      : recordOfRow(read.row, read.where, { columns: map, fetched });
  }
}

function checkColumns(row: Row, where: string, map: ColumnMap): void {
  const there = Object.keys(row).join(', ');
  if (map.text === undefined && map.answer === undefined && map.url === undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `No column is mapped to the text of documents. Map one with --column text=NAME or --column answer=NAME, or with --url-column NAME and --crawl. Columns of ${where}: ${there}.`,
    );
  }
  if (map.question !== undefined && map.answer === undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `Column ${map.question} has the questions, but no column is mapped to their answers. Add --column answer=NAME. Columns of ${where}: ${there}.`,
    );
  }
  const missing = missingColumns(row, map);
  if (missing.length === 0) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${where} has no column ${missing.join(', ')}. It has: ${there}. Map columns with --column, as in --column question=${Object.keys(row)[0] ?? 'NAME'}.`,
  );
}
