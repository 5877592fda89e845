import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';

import type { DatasetProblem } from './dataset-problem.ts';
import { humanEvalRowSchema, rowCheck } from './row-schema.ts';
import type { RowReader } from './read-tasks.ts';

/** A line of the HumanEval file (Chen et al. 2021, https://arxiv.org/abs/2107.03374). */
interface HumanEvalRow {
  task_id: string;
  /** The program up to the body of the function: imports, helpers, its head and docstring. */
  prompt: string;
  entry_point: string;
  /** The body. */
  canonical_solution: string;
  /** Defines `check(candidate)`, which raises when the function is wrong. */
  test: string;
}

/**
 * Reads HumanEval rows as `asserts` tests with one hidden statement, `check(candidate)`. Of the program the tests get
 * the function alone: a helper that the prompt gives and the tests use comes from the prompt, so that no program can
 * replace it.
 */
export function humanEvalRowReader(): RowReader<CodeTask> {
  const check = rowCheck<HumanEvalRow>(humanEvalRowSchema);
  return (read, line) => {
    const checked = check(read, line);
    if ('problems' in checked) return checked;
    const { row } = checked;
    const at = headOf(row.entry_point).exec(row.prompt)?.index;
    const problems = problemsOf(row, at, line);
    return at === undefined || problems.length > 0 ? { problems } : { task: taskOf(row, at) };
  };
}

const headOf = (name: string): RegExp => new RegExp(`^(?:async\\s+)?def\\s+${name}\\s*\\(`, 'm');

function problemsOf(row: HumanEvalRow, at: number | undefined, line: number): DatasetProblem[] {
  const problems: DatasetProblem[] = [];
  const missing = (path: string, name: string, which = ''): void => {
    problems.push({ line, path, text: `must define ${name}${which}, got no line "def ${name}(".` });
  };
  if (at === undefined) missing('prompt', row.entry_point, ', which entry_point names');
  if (!headOf('check').test(row.test)) missing('test', 'check');
  return problems;
}

function taskOf(row: HumanEvalRow, at: number): CodeTask {
  const { task_id, prompt, entry_point, canonical_solution, test } = row;
  return {
    taskId: task_id,
    prompt: `Complete this Python program. Answer with all of it.\n\n${prompt.trim()}`,
    starterCode: prompt,
    tests: {
      kind: 'asserts',
      setup: `${prompt.slice(0, at)}\n${test}`,
      code: ['check(candidate)'],
      entry: entry_point,
      names: [entry_point],
      classes: [],
    },
    compare: 'exact',
    referenceSolution: prompt + canonical_solution,
    metadata: { source: 'humaneval' },
  };
}
