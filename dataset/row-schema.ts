import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type TSchema, Type } from 'typebox';

import { type DatasetProblem, shownValue } from './dataset-problem.ts';

const closed = { additionalProperties: false } as const;
const text = Type.String();
const name = Type.String({ minLength: 1 });
const isPublic = Type.Optional(Type.Boolean());

const stdinTests = Type.Object(
  {
    kind: Type.Literal('stdin'),
    cases: Type.Array(Type.Object({ input: text, output: text, public: isPublic }, closed), {
      minItems: 1,
    }),
  },
  closed,
);

const callsTests = Type.Object(
  {
    kind: Type.Literal('calls'),
    entry: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    cases: Type.Array(
      Type.Object(
        { args: Type.Array(Type.Unknown()), expected: Type.Unknown(), public: isPublic },
        closed,
      ),
      { minItems: 1 },
    ),
  },
  closed,
);

const assertsTests = Type.Object(
  {
    kind: Type.Literal('asserts'),
    setup: Type.Optional(text),
    code: Type.Array(name, { minItems: 1 }),
  },
  closed,
);

const rowWith = (tests: TSchema): TSchema =>
  Type.Object(
    {
      task_id: name,
      prompt: name,
      starter_code: Type.Optional(text),
      tests,
      compare: Type.Enum(['exact', 'whitespace', 'float', 'unordered']),
      reference_solution: Type.Optional(text),
      metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    closed,
  );

/** A line of a task file, by the kind of its tests. */
export const taskRowSchemas = {
  stdin: rowWith(stdinTests),
  calls: rowWith(callsTests),
  asserts: rowWith(assertsTests),
} as const;

/** A line of MBPP's own file. */
export const mbppRowSchema = Type.Object(
  {
    text: name,
    code: text,
    task_id: Type.Union([Type.Integer(), name]),
    test_setup_code: text,
    test_list: Type.Array(name, { minItems: 1 }),
    challenge_test_list: Type.Array(name),
  },
  closed,
);

const ajv = (): Ajv => new Ajv({ allErrors: true, strict: false, verbose: true });

/** Compiles a schema into a check that names every problem of a row. */
export function rowCheck(schema: TSchema): (row: unknown, line: number) => DatasetProblem[] {
  const validate: ValidateFunction = ajv().compile(schema);
  return (row, line) => {
    if (validate(row)) return [];
    return (validate.errors ?? []).map((error) => problemOf(error, row, line));
  };
}

function problemOf(error: ErrorObject, row: unknown, line: number): DatasetProblem {
  const keys = error.instancePath.split('/').slice(1);
  const path = keys.reduce(
    (shown, key) => (/^\d+$/.test(key) ? `${shown}[${key}]` : joined(shown, key)),
    '',
  );
  const extra: unknown = error.params['additionalProperty'];
  if (typeof extra === 'string') {
    const allowed = Object.keys(error.parentSchema?.['properties'] ?? {}).join(', ');
    return {
      line,
      path: joined(path, extra),
      text: `unknown key; allowed: ${allowed || 'see the schema'}.`,
    };
  }
  const missing: unknown = error.params['missingProperty'];
  if (typeof missing === 'string')
    return { line, path: joined(path, missing), text: 'is missing.' };
  const allowedValues: unknown = error.params['allowedValues'];
  const allowed = Array.isArray(allowedValues)
    ? `must be one of ${allowedValues.join(', ')}`
    : (error.message ?? 'is invalid');
  return { line, path, text: `${allowed}, got ${shownValue(valueAt(row, keys))}.` };
}

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function valueAt(row: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (Object.entries(value).find(([name]) => name === key)?.[1] as unknown)
        : undefined,
    row,
  );
}
