import { type Static, Type } from '../../agent_rl/core/typebox.ts';
import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';
import type { DatasetProblem } from './dataset-problem.ts';
import type { RowReader } from './read-rows.ts';
import { closed, filled, identifier, rowCheck } from './row-schema.ts';

/** A line of the HumanEval file (Chen et al. 2021, https://arxiv.org/abs/2107.03374). */
const HumanEvalRow = Type.Object(
  {
    task_id: filled,
    /** The program up to the body of the function: imports, helpers, its head and docstring. */
    prompt: filled,
    entry_point: identifier,
    /** The body. */
    canonical_solution: filled,
    /** Defines `check(candidate)`, which raises when the function is wrong. */
    test: filled,
  },
  closed,
);
type HumanEvalRow = Static<typeof HumanEvalRow>;

/**
 * Reads HumanEval rows as `asserts` tests with one hidden statement, `check(candidate)`. Of the program the tests get
 * the function alone: a helper that the prompt gives and the tests use comes from the prompt, so that no program can
 * replace it.
 */
export const humanEvalRowReader = (): RowReader<CodeTask> =>
  rowCheck(HumanEvalRow, (row, line) => {
    const at = headOf(row.entry_point).exec(row.prompt)?.index;
    const problems = problemsOf(row, at, line);
    return at === undefined || problems.length > 0 ? { problems } : { row: taskOf(row, at) };
  });

const headOf = (name: string): RegExp => new RegExp(`^(?:async\\s+)?def\\s+${name}\\s*\\(`, 'm');

function problemsOf(row: HumanEvalRow, at: number | undefined, line: number): DatasetProblem[] {
  const problems: DatasetProblem[] = [];
  const missing = (path: string, name: string, which = ''): void => {
    problems.push({
      line,
      path,
      text: `must define ${name}${which}, but has no line "def ${name}(".`,
    });
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
