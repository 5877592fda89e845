import type { Static, TSchema } from 'typebox';

import { AgentRlError } from '../errors.ts';
import { isRecord } from '../is-record.ts';
import { showValue } from '../show-value.ts';
import type { JsonSchema } from '../plugins/tool.ts';

/** What a Standard Schema says of a value. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of zod, valibot, ArkType or any other library that follows https://standardschema.dev. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** What describes the input of a tool: a JSON Schema of type object, TypeBox's too, or a Standard Schema. */
export type InputSchema = StandardSchema | TSchema | JsonSchema;

/** What `execute` is given for a schema. */
export type InputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : Schema extends TSchema
    ? Static<Schema>
    : Readonly<Record<string, unknown>>;

/** A value as the schema reads it, with its defaults and transformations, or what is wrong with it. */
export type Parsed = { value: unknown } | { problem: string };

/** A schema as a tool needs it. */
export interface ReadSchema {
  /** What the model is shown, and its arguments are checked against first. */
  json: JsonSchema;
  /** What only the library checks or fills in. */
  parse: (value: unknown) => Promise<Parsed>;
}

/**
 * Reads a schema of any supported kind.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` for a schema without a JSON Schema, naming what to pass instead.
 */
export function readSchema(schema: unknown, owner: string): ReadSchema {
  // Schemas of ArkType are functions.
  if (isStandard(schema)) return readStandard(schema['~standard'], owner);
  if (isRecord(schema) && schema['type'] === 'object')
    return { json: schema, parse: async (value) => ({ value }) };
  throw new AgentRlError(
    'PLUGIN_LOAD_FAILED',
    `${owner}: inputSchema is ${showValue(schema, 60)}, which is neither a JSON Schema of type object nor a Standard Schema. Pass one, such as z.object({ city: z.string() }).`,
  );
}

const isStandard = (schema: unknown): schema is StandardSchema =>
  ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') &&
  '~standard' in schema;

function readStandard(standard: StandardSchema['~standard'], owner: string): ReadSchema {
  const { jsonSchema, vendor } = standard;
  if (jsonSchema === undefined)
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `${owner}: the schema of ${vendor} has no JSON Schema to show to the model. Use a version of ${vendor} with Standard JSON Schema (zod 4.2 or later), wrap the schema (valibot: toStandardJsonSchema), or pass a JSON Schema.`,
    );
  const { $schema: _draft, ...json } = jsonSchema.input({ target: 'draft-2020-12' });
  return {
    json,
    parse: async (value) => {
      const result = await standard.validate(value);
      if (result.issues === undefined) return { value: result.value };
      return { problem: result.issues.map(issueText).join('; ') };
    },
  };
}

function issueText({ message, path = [] }: StandardIssue): string {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return steps.length === 0 ? message : `${steps.join('.')}: ${message}`;
}
