import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

import { type Static, type TSchema, Type } from '../../core/typebox.ts';
import { sandboxStatuses } from '../../core/services/sandbox.ts';

/*
 * What client and server of this package exchange: JSON over HTTP.
 *
 * GET /capabilities, POST /run, /calls, /judge, /sessions, /sessions/ID/run, DELETE /sessions/ID. Bodies are the requests
 * of `core/services/sandbox.ts`, checked as every sandbox checks them; answers are its results. A server also answers
 * SandboxFusion's POST /run_code, see `fusion.ts`.
 */

/** Changes when an older client would misread the answers. */
export const protocolVersion = 1;

/** Answers of later versions may have more fields. */
export const CapabilitiesAnswer = Type.Object({
  server: Type.Literal('agent_rl'),
  protocol: Type.Integer(),
  level: Type.String(),
  python: Type.String(),
  concurrency: Type.Integer({ minimum: 1 }),
  modules: Type.Optional(Type.Array(Type.String())),
});

export const RunAnswer = Type.Object({
  status: Type.Enum([...sandboxStatuses]),
  exitCode: Type.Optional(Type.Integer()),
  signal: Type.Optional(Type.String()),
  stdout: Type.String(),
  stderr: Type.String(),
  stdoutBytes: Type.Number(),
  stderrBytes: Type.Number(),
  truncated: Type.Boolean(),
  wallMs: Type.Number(),
  cpuMs: Type.Optional(Type.Number()),
  peakRssBytes: Type.Optional(Type.Number()),
  level: Type.String(),
  message: Type.Optional(Type.String()),
});

export const CallsAnswer = Type.Intersect([
  RunAnswer,
  Type.Object({ results: Type.Array(Type.Unknown()) }),
]);

export const JudgeAnswer = Type.Intersect([
  RunAnswer,
  Type.Object({
    verdicts: Type.Array(
      Type.Object({ passed: Type.Boolean(), problem: Type.Optional(Type.String()) }),
    ),
  }),
]);

export const SessionAnswer = Type.Object({ id: Type.String({ minLength: 1 }) });

export const SessionRunAnswer = Type.Intersect([RunAnswer, Type.Object({ alive: Type.Boolean() })]);

/** What is wrong with a message, `/limits/wallS must be <= 3600`, or the message itself. */
export type Checked<Schema extends TSchema> =
  { value: Static<Schema> } | { problems: readonly Problem[] };

export interface Problem {
  path: readonly string[];
  message: string;
}

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  code: { optimize: false },
});
const validators = new Map<TSchema, ValidateFunction>();

export function check<Schema extends TSchema>(schema: Schema, value: unknown): Checked<Schema> {
  // Through JSON: ajv rejects the markers that TypeBox hides in a schema.
  const validate =
    validators.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(schema)) as object);
  validators.set(schema, validate);
  if (validate(value)) return { value: value as Static<Schema> };
  return { problems: (validate.errors ?? []).map(problemOf) };
}

function problemOf({ instancePath, message = 'is wrong', keyword, params }: ErrorObject): Problem {
  const path = instancePath.split('/').slice(1);
  const extra: unknown = params['additionalProperty'];
  if (typeof extra === 'string') return { path: [...path, extra], message: 'is not known' };
  if (keyword === 'const')
    return { path, message: `must be ${JSON.stringify(params['allowedValue'])}` };
  const none = keyword === 'maxItems' && params['limit'] === 0;
  return { path, message: none ? 'is not supported; it must be empty' : message };
}

export const problemText = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `${path.join('.') || 'the body'} ${message}`).join('; ');
