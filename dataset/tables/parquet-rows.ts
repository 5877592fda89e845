import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { type JsonLine, type TableLimits, tooMany, unreadable } from './json-lines.ts';
import { exactRow, storedDecimals } from './parquet-cells.ts';

/**
 * The rows of a Parquet file.
 *
 * @yields a line for each row
 * @throws AgentRlError `DATASET_INVALID`
 */
export async function* parquetRows(file: string, limits: TableLimits): AsyncGenerator<JsonLine> {
  try {
    const buffer = await asyncBufferFromFile(file);
    const metadata = await parquetMetadataAsync(buffer);
    checkParquet(file, metadata, limits);
    const exact = exactRow(metadata);
    const stored = storedDecimals(metadata);
    let rowStart = 0;
    // A row group at a time: a part of one would have it decoded whole, once for each part.
    for (const { num_rows: count } of metadata.row_groups) {
      const rowEnd = rowStart + Number(count);
      const options = { file: buffer, ...stored, compressors, rowStart, rowEnd };
      const rows: readonly unknown[] = await parquetReadObjects(options);
      for (const [index, row] of rows.entries())
        yield { line: rowStart + index + 1, value: exact(row) };
      rowStart = rowEnd;
    }
  } catch (cause) {
    throw AgentRlError.is(cause) ? cause : unreadable(file, cause, 'Give a complete Parquet file.');
  }
}

const sum = (counts: readonly (bigint | undefined)[]): number =>
  counts.reduce<number>((total, count) => total + Number(count ?? 0), 0);

/** @throws AgentRlError `DATASET_INVALID` for a file that says that it holds more than is read */
function checkParquet(
  file: string,
  { row_groups: groups }: FileMetaData,
  limits: TableLimits,
): void {
  const rows = sum(groups.map((group) => group.num_rows));
  if (rows > limits.rows) throw tooMany(file, 'rows', limits.rows, `${rows}`);
  for (const { columns } of groups) {
    const cells = sum(columns.map(({ meta_data: data }) => data?.num_values));
    if (cells > limits.cells) throw tooMany(file, 'cells in a row group', limits.cells, `${cells}`);
    const bytes = sum(columns.map(({ meta_data: data }) => data?.total_uncompressed_size));
    if (bytes > limits.cellBytes)
      throw tooMany(file, 'bytes in a row group', limits.cellBytes, `${bytes}`);
  }
}
