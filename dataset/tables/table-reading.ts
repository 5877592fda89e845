import { isRecord } from '../../agent_rl/core/is-record.ts';
import { labelText } from '../../agent_rl/core/tasks/decimal-text.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type { DatasetProblem } from '../tasks/dataset-problem.ts';

/** How the columns of a table become the fields of a task. */
export interface TableReading {
  /** The column that a field is taken from, by field; a dot goes into an object, as in `answers.text`. */
  columns?: Readonly<Record<string, string>> | undefined;
  /** Regular expression: of the field `answer` its first group, or all it matches, is kept, where it matches last. */
  answerPattern?: string | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/** A row with its fields in place, or what is wrong with it. */
export type Mapped = { value: unknown } | { problems: readonly DatasetProblem[] };

/** The regular expression that a pattern stands for. @throws SyntaxError */
export const answerExpression = (pattern: string): RegExp => new RegExp(pattern, 'gmu');

/**
 * Renames the columns and extracts the answers; a row that is no object is returned as it is, for the caller to refuse.
 *
 * @param exact the row with each number that a double cannot hold as a text; answers are taken from it
 */
export function mapRow(
  value: unknown,
  line: number,
  reading: TableReading,
  exact: unknown = value,
): Mapped {
  if (!isRecord(value) || !isRecord(exact)) return { value };
  const { columns = {}, answerPattern } = reading;
  const { row: mapped, problems } = withColumns(value, line, columns);
  const row =
    exact === value ? mapped : withAnswersOf(mapped, withColumns(exact, line, columns).row);
  if (problems.length > 0) return { problems };
  if (answerPattern === undefined) return { value: row };
  const { answer } = row;
  const found = answerIn(answer, answerPattern);
  if (found !== undefined) return { value: { ...row, answer: found } };
  const shown = showValue(answer);
  const text = `answerPattern ${answerPattern} does not match ${shown}.`;
  return { problems: [{ line, path: 'answer', text, value: shown }] };
}

/** A row with the id and answers of its twin: its own, or those that an environment finds in its metadata. */
function withAnswersOf(row: Row, exact: Row): Row {
  const answers = ['task_id', 'answer', 'aliases'].flatMap((name) =>
    name in row ? [[name, exact[name]]] : [],
  );
  const [own, other] = [row['metadata'], exact['metadata']];
  return {
    ...row,
    ...Object.fromEntries(answers),
    ...(isRecord(own) && isRecord(other) && { metadata: withAnswersOf(own, other) }),
  };
}

function withColumns(row: Row, line: number, columns: Readonly<Record<string, string>>) {
  const taken = new Set<string>();
  const fields: Record<string, unknown> = {};
  const problems: DatasetProblem[] = [];
  for (const [field, column] of Object.entries(columns)) {
    const whole = Object.hasOwn(row, column);
    const top = whole ? column : (column.split('.')[0] ?? '');
    if (!Object.hasOwn(row, top)) {
      const there = Object.keys(row).join(', ') || 'none';
      const text = `there is no column "${column}". Columns: ${there}.`;
      problems.push({ line, path: `columns.${field}`, text, value: there });
      continue;
    }
    taken.add(top);
    fields[field] = whole ? row[column] : valueAt(row, column);
  }
  const others = Object.entries(row).filter(([name]) => !taken.has(name));
  return { row: { ...Object.fromEntries(others), ...fields } as Row, problems };
}

function valueAt(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const key of path.split('.')) value = isRecord(value) ? value[key] : undefined;
  return value;
}

function answerIn(answer: unknown, pattern: string): string | undefined {
  if (typeof answer !== 'string' && typeof answer !== 'number') return undefined;
  const last = [...labelText(answer).matchAll(answerExpression(pattern))].at(-1);
  const found = (last?.[1] ?? last?.[0])?.trim();
  return found === '' ? undefined : found;
}

/** A cell of Parquet as JSON has it: its whole numbers of 64 bits as numbers where these hold them, dates as text. */
export function plainCell(value: unknown): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainCell);
  if (!isRecord(value) || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, cell]) => [key, plainCell(cell)]));
}
