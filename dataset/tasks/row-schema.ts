import { Ajv, type ErrorObject } from 'ajv';

import { type Static, type TSchema, Type } from '../../agent_rl/core/typebox.ts';
import type { CodeTests } from '../../agent_rl/core/tasks/code-task.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import { nearestName } from '../../agent_rl/config/checks/nearest-name.ts';

import { type DatasetProblem } from './dataset-problem.ts';
import type { RowReader, RowReading } from './read-rows.ts';

export const closed = { additionalProperties: false } as const;
export const filled = Type.String({ minLength: 1 });
export const identifier = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' });
export const anyMetadata = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const anyText = Type.String();

const casesOf = (test: Record<string, TSchema>) =>
  Type.Array(Type.Object({ ...test, public: Type.Optional(Type.Boolean()) }, closed), {
    minItems: 1,
  });

const stdinTests = Type.Object(
  { kind: Type.Literal('stdin'), cases: casesOf({ input: anyText, output: anyText }) },
  closed,
);

const callsTests = Type.Object(
  {
    kind: Type.Literal('calls'),
    entry: identifier,
    cases: casesOf({ args: Type.Array(Type.Unknown()), expected: Type.Unknown() }),
  },
  closed,
);

const assertsTests = Type.Object(
  {
    kind: Type.Literal('asserts'),
    setup: Type.Optional(anyText),
    code: Type.Array(filled, { minItems: 1 }),
    public: Type.Optional(Type.Array(filled)),
    entry: Type.Optional(identifier),
    names: Type.Optional(Type.Array(identifier)),
    classes: Type.Optional(Type.Array(identifier)),
  },
  closed,
);

const rowWith = (tests: TSchema) =>
  Type.Object(
    {
      task_id: filled,
      prompt: filled,
      starter_code: Type.Optional(anyText),
      tests: Type.Unsafe<CodeTests>(tests),
      compare: Type.Enum(['exact', 'whitespace', 'float', 'unordered']),
      reference_solution: Type.Optional(anyText),
      metadata: anyMetadata,
    },
    closed,
  );

/** A line of a task file, by the kind of its tests. */
export const taskRowSchemas = {
  stdin: rowWith(stdinTests),
  calls: rowWith(callsTests),
  asserts: rowWith(assertsTests),
} as const;

/**
 * Compiles a schema into a reader that names every problem of a line.
 *
 * @param take what becomes of a row that fits the schema; the row itself by default
 */
export function rowCheck<Schema extends TSchema, Row = Static<Schema>>(
  schema: Schema,
  take: (value: Static<Schema>, line: number) => RowReading<Row> = (value) => ({
    row: value,
  }),
): RowReader<Row> {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    verbose: true,
    // The schemas are our own; compiling JSON Schema's own schema, to check them, takes longer than all else.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  const validate = ajv.compile<Static<Schema>>(schema);
  return (value, line) =>
    validate(value)
      ? take(value, line)
      : { problems: (validate.errors ?? []).map((error) => problemOf(error, line)) };
}

function problemOf(error: ErrorObject, line: number): DatasetProblem {
  const path = pathOf(error.instancePath);
  const extra: unknown = error.params['additionalProperty'];
  if (typeof extra === 'string') {
    const allowed = Object.keys(error.parentSchema?.['properties'] ?? {});
    const near = nearestName(extra, allowed);
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
    const text = `is not a known key.${hint} Allowed: ${allowed.join(', ')}.`;
    return { line, path: joined(path, extra), text };
  }
  const missing: unknown = error.params['missingProperty'];
  if (typeof missing === 'string') {
    const value = Object.keys(error.data as object).join(', ') || 'no key';
    return { line, path: joined(path, missing), text: `is missing. Present: ${value}.`, value };
  }
  const values: unknown = error.params['allowedValues'];
  const rule = Array.isArray(values)
    ? `must be one of ${values.join(', ')}`
    : (error.message ?? 'is not valid');
  const value = showValue(error.data);
  return { line, path, text: `${rule}, got ${value}.`, value };
}

/** `/tests/cases/2/output` as `tests.cases[2].output`. */
const pathOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .reduce((path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : joined(path, key)), '');

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);
