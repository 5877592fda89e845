import { fieldsOf, rowIdOf, tokenIdsOf, type IdLimits, type RowId } from './row-ids.ts';
import type { InputRow, ReadRow } from './input-rows.ts';

/** One sequence to score. */
export interface ScoreRow {
  id?: RowId;
  ids: Int32Array;
}

/** Reads `{"ids": [...], "id"?: ...}`: token ids of the model, no more of them than it has positions. */
export const readScoreRow =
  (model: IdLimits): ReadRow<ScoreRow> =>
  (value, report) => {
    const fields = fieldsOf(value, ['ids', 'id'], report);
    if (fields === undefined) return undefined;
    const id = rowIdOf(fields, report);
    const ids = tokenIdsOf(fields, model, report);
    if (ids === undefined) return undefined;
    if (ids.length > model.maxPositions) {
      report('ids', `has ${ids.length} tokens, and the model has ${model.maxPositions} positions.`);
    }
    return { ...id, ids };
  };

/**
 * Cuts rows into stretches that can be held at once.
 *
 * @yields Consecutive rows that together have at least so many tokens; at the end fewer.
 */
export async function* windowsOf(
  rows: AsyncIterable<InputRow<ScoreRow>>,
  tokens: number,
): AsyncGenerator<readonly InputRow<ScoreRow>[]> {
  let window: InputRow<ScoreRow>[] = [];
  let held = 0;
  for await (const row of rows) {
    window.push(row);
    held += row.row.ids.length;
    if (held < tokens) continue;
    yield window;
    window = [];
    held = 0;
  }
  if (window.length > 0) yield window;
}
