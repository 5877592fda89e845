import { AgentRlError } from '../../agent_rl/core/errors.ts';

/** One thing wrong with a line of a dataset. */
export interface DatasetProblem {
  line: number;
  /** Where in the row, such as `tests.cases[2].output`; empty for the row itself. */
  path: string;
  /** What is wrong, the value seen and what is allowed. */
  text: string;
}

/** Longest list of problems shown; the rest is counted. */
const mostShown = 20;

/** Every problem of a file in one error, each as `file:line path: problem, value, allowed`. */
export function datasetError(file: string, problems: readonly DatasetProblem[]): AgentRlError {
  const shown = problems
    .slice(0, mostShown)
    .map(({ line, path, text }) => `${file}:${line}${path === '' ? '' : ` ${path}`}: ${text}`);
  const more = problems.length - shown.length;
  const rest = more > 0 ? [`and ${more} more ${more === 1 ? 'problem' : 'problems'}.`] : [];
  return new AgentRlError('DATASET_INVALID', [...shown, ...rest].join('\n'));
}

/** A value as it is shown in a problem: JSON, cut when long. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
