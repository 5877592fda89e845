import type { CodeTask, CodeTests } from '../agent_rl/core/code-task.ts';

import { type DatasetProblem, shownValue } from './dataset-problem.ts';
import { rowCheck, taskRowSchemas } from './row-schema.ts';

/** A row as a task, or everything that is wrong with it. */
export type RowReading =
  { readonly task: CodeTask } | { readonly problems: readonly DatasetProblem[] };

/** Reads a parsed line; made once per file. */
export type RowReader = (row: unknown, line: number) => RowReading;

interface TaskRow {
  readonly task_id: string;
  readonly prompt: string;
  readonly starter_code?: string;
  readonly tests: CodeTests;
  readonly compare: CodeTask['compare'];
  readonly reference_solution?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Reads rows of our own format. A row without tests, or with public ones only, is a problem. */
export function taskRowReader(): RowReader {
  const checks = {
    stdin: rowCheck(taskRowSchemas.stdin),
    calls: rowCheck(taskRowSchemas.calls),
    asserts: rowCheck(taskRowSchemas.asserts),
  };
  return (row, line) => {
    const kind = kindOf(row);
    if (kind === 'none') return noTests(line);
    if (!(kind in checks)) return unknownKind(kind, line);
    const problems = checks[kind as keyof typeof checks](row, line);
    if (problems.length > 0) return { problems };
    const task = taskOf(row as TaskRow);
    return hasHidden(task.tests) ? { task } : onlyPublic(line);
  };
}

/** The tests' kind, `none` where there are no tests; a row that is no object fails any schema. */
function kindOf(row: unknown): string {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return 'stdin';
  const { tests } = row as { tests?: unknown };
  if (typeof tests !== 'object' || tests === null) return 'none';
  const { kind } = tests as { kind?: unknown };
  return typeof kind === 'string' ? kind : shownValue(kind);
}

const one = (line: number, path: string, text: string): RowReading => ({
  problems: [{ line, path, text }],
});

const noTests = (line: number): RowReading =>
  one(line, 'tests', 'the task has no tests; give {"kind": "stdin" | "calls" | "asserts", ...}.');

const unknownKind = (kind: string, line: number): RowReading =>
  one(line, 'tests.kind', `must be one of stdin, calls, asserts, got ${kind}.`);

const onlyPublic = (line: number): RowReading =>
  one(
    line,
    'tests.cases',
    'every case is public; at least one must be hidden to decide the reward.',
  );

const hasHidden = (tests: CodeTests): boolean =>
  tests.kind === 'asserts' || tests.cases.some((one) => one.public !== true);

function taskOf(row: TaskRow): CodeTask {
  return {
    taskId: row.task_id,
    prompt: row.prompt,
    starterCode: row.starter_code ?? '',
    tests: row.tests,
    compare: row.compare,
    ...(row.reference_solution === undefined ? {} : { referenceSolution: row.reference_solution }),
    metadata: row.metadata ?? {},
  };
}
