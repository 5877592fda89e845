import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { rowUnit } from '../tables/row-unit.ts';

/** One thing wrong with a line of a dataset. */
export interface DatasetProblem {
  line: number;
  /** Where in the row, such as `tests.cases[2].output`; empty for the row itself. */
  path: string;
  /** What is wrong, the value seen and what is allowed. */
  text: string;
  /** The part of the text that is of this row alone. Problems that differ in it or in numbers are of one kind. */
  value?: string | undefined;
}

/** Most kinds of problems shown, and most lines named of each; the rest is counted. */
const mostKinds = 20;
const mostLines = 5;

/**
 * Every kind of problem of a file in one error, each by its first example, as `file:line path: problem, value, allowed`.
 *
 * @param shape advice for a file in which all of this many rows have the same problem: its shape is another
 */
export function datasetError(
  file: string,
  problems: readonly DatasetProblem[],
  shape?: { rows: number; remedy: string },
): AgentRlError {
  const kinds = new Map<string, DatasetProblem[]>();
  for (const problem of problems) {
    const kind = kindOf(problem);
    const alike = kinds.get(kind);
    if (alike === undefined) kinds.set(kind, [problem]);
    else alike.push(problem);
  }
  const shown = [...kinds.values()].slice(0, mostKinds).map((kind) => exampleOf(file, kind));
  const more = kinds.size - shown.length;
  if (more > 0) shown.push(`and ${more} more ${more === 1 ? 'kind' : 'kinds'} of problem.`);
  const shared = ({ length }: DatasetProblem[]): boolean => length > 1 && length === shape?.rows;
  if (shape !== undefined && [...kinds.values()].some(shared)) shown.push(shape.remedy);
  return new AgentRlError('DATASET_INVALID', shown.join('\n'));
}

function kindOf({ path, text, value }: DatasetProblem): string {
  const common = value === undefined ? text : text.replace(value, '');
  return `${path}: ${common}`.replaceAll(/\d+/g, '#');
}

/** Where a row of a file is: `file:line`, or `file:row 3` where lines mean nothing. */
export const placeIn = (file: string, line: number): string =>
  `${file}:${rowUnit(file) === 'line' ? '' : 'row '}${line}`;

function exampleOf(file: string, [first, ...others]: readonly DatasetProblem[]): string {
  if (first === undefined) return '';
  const { line, path, text } = first;
  const unit = rowUnit(file);
  const example = `${placeIn(file, line)}${path === '' ? '' : ` ${path}`}: ${text}`;
  const lines = [...new Set(others.map((other) => other.line))];
  if (lines.length === 0) return example;
  const named = `${lines.length === 1 ? unit : `${unit}s`} ${lines.slice(0, mostLines).join(', ')}`;
  return `${example} (${others.length} more like this: ${named}${lines.length > mostLines ? ', …' : ''})`;
}
