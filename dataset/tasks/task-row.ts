import type { Static } from 'typebox';

import { isRecord } from '../../agent_rl/core/is-record.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type {
  CallsCase,
  CodeTask,
  CodeTests,
  StdinCase,
} from '../../agent_rl/core/tasks/code-task.ts';
import { argumentProblem } from '../../agent_rl/core/python/python-arguments.ts';
import { pythonValueProblem } from '../../agent_rl/core/python/python-value.ts';
import { keptOutputBytes } from '../../agent_rl/core/services/sandbox.ts';

import { type DatasetProblem } from './dataset-problem.ts';
import type { RowReader, RowReading } from './read-rows.ts';
import { rowCheck, taskRowSchemas } from './row-schema.ts';

type AssertsTests = Extract<CodeTests, { kind: 'asserts' }>;

/** Reads rows of our own format. A row without tests, or with public ones only, is a problem. */
export function taskRowReader(): RowReader<CodeTask> {
  const checks = new Map(
    Object.entries(taskRowSchemas).map(([kind, schema]) => [
      kind,
      rowCheck(schema, (value, line): RowReading<CodeTask> => {
        const row = taskOf(value);
        const problems = problemsOf(row.tests).map(({ path, text }) => ({ line, path, text }));
        return problems.length > 0 ? { problems } : { row };
      }),
    ]),
  );
  return (row, line) => {
    // What is not an object fails every schema alike.
    const tests: unknown = isRecord(row) ? row['tests'] : { kind: 'stdin' };
    const kind = isRecord(tests) ? tests['kind'] : undefined;
    const check = checks.get(String(kind));
    if (check !== undefined) return check(row, line);
    const problem = isRecord(tests)
      ? { path: 'tests.kind', text: `must be one of stdin, calls, asserts, got ${showKind(kind)}.` }
      : {
          path: 'tests',
          text: 'the task has no tests. Add them: {"kind": "stdin" | "calls" | "asserts", ...}. Or choose another format with --format or datasets[].format (plain for your own environment).',
        };
    return { problems: [{ line, ...problem }] };
  };
}

const showKind = (kind: unknown): string => (typeof kind === 'string' ? kind : showValue(kind));

type Found = Pick<DatasetProblem, 'path' | 'text'>;

/** What tests that fit their schema can still have wrong. */
function problemsOf(tests: CodeTests): Found[] {
  if (tests.kind === 'asserts') return classProblems(tests);
  const found =
    tests.kind === 'stdin'
      ? tests.cases.flatMap(outputProblem)
      : tests.cases.flatMap(valueProblems);
  if (found.length > 0 || tests.cases.some((given) => given.public !== true)) return found;
  const text = 'every case is public; the reward needs at least one hidden case.';
  return [{ path: 'tests.cases', text }];
}

/** An output that no program can pass with, since a sandbox does not keep as much of what it prints. */
function outputProblem({ output }: StdinCase, i: number): Found[] {
  const bytes = Buffer.byteLength(output);
  if (bytes <= keptOutputBytes) return [];
  const text = `has ${bytes} bytes; a sandbox keeps at most ${keptOutputBytes} of what a program prints. Leave the case out, or use a smaller input.`;
  return [{ path: `tests.cases[${i}].output`, text }];
}

/** Arguments and results that are not type-tagged Python values, and arguments that no sandbox takes. */
function valueProblems({ args, expected }: CallsCase, i: number): Found[] {
  const texts: [at: string, text: string | undefined][] = [
    ...args.map((value, a): [string, string | undefined] => [
      `args[${a}]`,
      pythonValueProblem(value) ?? argumentProblem(value),
    ]),
    ['expected', pythonValueProblem(expected)],
  ];
  return texts.flatMap(([at, text]) =>
    text === undefined ? [] : [{ path: `tests.cases[${i}].${at}`, text }],
  );
}

/** Classes that the tests could not use, as they are not among the names. */
function classProblems({ names, entry, classes = [] }: AssertsTests): Found[] {
  return classes.flatMap((name, i) => {
    if (names === undefined || names.includes(name) || name === entry) return [];
    const text = `${showValue(name)} is not among tests.names; add it there.`;
    return [{ path: `tests.classes[${i}]`, text }];
  });
}

function taskOf(row: Static<(typeof taskRowSchemas)['stdin']>): CodeTask {
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
