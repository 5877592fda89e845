import { showValue } from '../../core/show-value.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import type { Report } from './input-rows.ts';

/** What names a row for its user, given back with what came of it. */
export type RowId = string | number;

/** What is checked of token ids. */
export type IdLimits = Pick<ModelConfig, 'vocabSize' | 'maxPositions'>;

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a row, when it is an object of only these. */
export function fieldsOf(
  value: unknown,
  known: readonly string[],
  report: Report,
): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report('', `is ${showValue(value)}; expected an object, {"${known[0]}": …}.`);
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) report(name, `is not known; allowed are ${known.join(', ')}.`);
  }
  return value as Fields;
}

/** The `id` of a row, if it has one. */
export function rowIdOf({ id }: Fields, report: Report): { id?: RowId } {
  if (typeof id === 'string' || typeof id === 'number') return { id };
  if (id !== undefined) report('id', `is ${showValue(id)}; expected a string or a number.`);
  return {};
}

/** The `ids` of a row: at least one, all of the vocabulary. */
export function tokenIdsOf(
  { ids }: Fields,
  { vocabSize }: IdLimits,
  report: Report,
): Int32Array | undefined {
  if (!Array.isArray(ids) || ids.length === 0) {
    report('ids', `is ${showValue(ids)}; expected a list of at least one token id.`);
    return undefined;
  }
  const wrong = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
  if (wrong < 0) return Int32Array.from(ids as number[]);
  const seen = showValue(ids[wrong]);
  report(
    `ids[${wrong}]`,
    `is ${seen}; token ids of this model are integers from 0 to ${vocabSize - 1}.`,
  );
  return undefined;
}
