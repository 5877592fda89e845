import { showValue } from '../../agent_rl/core/show-value.ts';
import type { CodeTask, CodeTests } from '../../agent_rl/core/tasks/code-task.ts';
import { argumentProblem } from '../../agent_rl/core/python/python-arguments.ts';
import { pythonValueProblem } from '../../agent_rl/core/python/python-value.ts';
import { keptOutputBytes } from '../../agent_rl/core/services/sandbox.ts';

import { type DatasetProblem } from './dataset-problem.ts';
import type { RowReader, RowReading } from './read-rows.ts';
import { rowCheck, taskRowSchemas } from './row-schema.ts';

interface TaskRow {
  task_id: string;
  prompt: string;
  starter_code?: string;
  tests: CodeTests;
  compare: CodeTask['compare'];
  reference_solution?: string;
  metadata?: Readonly<Record<string, unknown>>;
}

/** Reads rows of our own format. A row without tests, or with public ones only, is a problem. */
export function taskRowReader(): RowReader<CodeTask> {
  const checks = new Map(
    Object.entries(taskRowSchemas).map(([kind, schema]) => [
      kind,
      rowCheck(schema, (row, line) => taskReading(row as TaskRow, line)),
    ]),
  );
  return (row, line) => {
    const kind = kindOf(row);
    if (kind === undefined) return noTests(line);
    return checks.get(kind)?.(row, line) ?? unknownKind(kind, line);
  };
}

function taskReading(row: TaskRow, line: number): RowReading<CodeTask> {
  const task = taskOf(row);
  const problems = [outputProblems, valueProblems, nameProblems].flatMap((problemsOf) =>
    problemsOf(task.tests, line),
  );
  if (problems.length > 0) return { problems };
  return hasHidden(task.tests) ? { row: task } : onlyPublic(line);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The tests' kind, nothing where there are no tests. A row that is not an object fails every schema alike. */
function kindOf(row: unknown): string | undefined {
  if (!isObject(row) || Array.isArray(row)) return 'stdin';
  if (!('tests' in row) || !isObject(row.tests)) return undefined;
  const kind = 'kind' in row.tests ? row.tests.kind : undefined;
  return typeof kind === 'string' ? kind : showValue(kind);
}

const one = (line: number, path: string, text: string): RowReading<CodeTask> => ({
  problems: [{ line, path, text }],
});

const noTests = (line: number): RowReading<CodeTask> =>
  one(line, 'tests', 'the task has no tests; give {"kind": "stdin" | "calls" | "asserts", ...}.');

const unknownKind = (kind: string, line: number): RowReading<CodeTask> =>
  one(line, 'tests.kind', `must be one of stdin, calls, asserts, got ${kind}.`);

const onlyPublic = (line: number): RowReading<CodeTask> =>
  one(
    line,
    'tests.cases',
    'every case is public; at least one must be hidden to decide the reward.',
  );

const hasHidden = (tests: CodeTests): boolean =>
  tests.kind === 'asserts' || tests.cases.some((given) => given.public !== true);

/** Outputs that no program can pass with, since a sandbox does not keep as much of what it prints. */
function outputProblems(tests: CodeTests, line: number): DatasetProblem[] {
  if (tests.kind !== 'stdin') return [];
  return tests.cases.flatMap(({ output }, i) => {
    const bytes = Buffer.byteLength(output);
    if (bytes <= keptOutputBytes) return [];
    const text = `has ${bytes} bytes; a sandbox keeps at most ${keptOutputBytes} of what a program prints. Leave the case out, or take a smaller input.`;
    return [{ line, path: `tests.cases[${i}].output`, text }];
  });
}

/** Arguments and results that are not type-tagged Python values, and arguments that no sandbox takes. */
function valueProblems(tests: CodeTests, line: number): DatasetProblem[] {
  if (tests.kind !== 'calls') return [];
  return tests.cases.flatMap(({ args, expected }, i) =>
    [...args.map((value, a) => ({ value, at: `args[${a}]` })), { value: expected, at: 'expected' }]
      .map(({ value, at }) => ({
        line,
        path: `tests.cases[${i}].${at}`,
        text: pythonValueProblem(value) ?? (at === 'expected' ? undefined : argumentProblem(value)),
      }))
      .filter((problem): problem is DatasetProblem => problem.text !== undefined),
  );
}

/** Classes that the tests could not use, as they are not among the names. */
function nameProblems(tests: CodeTests, line: number): DatasetProblem[] {
  if (tests.kind !== 'asserts' || tests.names === undefined) return [];
  const names = new Set([...tests.names, tests.entry]);
  return (tests.classes ?? []).flatMap((name, i) => {
    const text = `${showValue(name)} is not among tests.names; add it there.`;
    return names.has(name) ? [] : [{ line, path: `tests.classes[${i}]`, text }];
  });
}

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
