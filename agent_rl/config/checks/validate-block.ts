import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';

import { isRecord } from '../../core/is-record.ts';
import { explainSchemaError } from './explain-schema-error.ts';
import { configInvalid, type Places, pointerStep, type Problem } from './problem.ts';
import { frozenCopy } from '../yaml/sourced-tree.ts';

/** Where a block is in the run file. */
export interface BlockPlace {
  /** Dotted, `tools.0`. */
  path: string;
  /** Of the loaded config; empty when the block comes from code. */
  places: Places;
}

type Json = Record<string, unknown>;

// Values, not schemas.
const asIs: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'examples']);

/** The schema with every object in it closed, unless it says what else it may hold. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((part) => closed(part));
  if (!isRecord(schema)) return schema;
  const copy: Json = {};
  for (const [key, part] of Object.entries(schema)) copy[key] = asIs.has(key) ? part : closed(part);
  const open = !('additionalProperties' in copy) && !('unevaluatedProperties' in copy);
  if (open && copy['type'] === 'object' && isRecord(copy['properties'])) {
    copy['additionalProperties'] = false;
  }
  return copy;
}

function declaredPaths(schema: unknown, prefix: string): string[] {
  if (!isRecord(schema)) return [];
  if (isRecord(schema['items'])) return declaredPaths(schema['items'], `${prefix}[]`);
  if (!isRecord(schema['properties'])) return [];
  return Object.entries(schema['properties']).flatMap(([key, part]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return [path].concat(declaredPaths(part, path));
  });
}

// By the schema's text: compiling takes longer than a hundred checks, and runs check the same few schemas.
const compiled = new Map<string, { validate: ValidateFunction; knownPaths: readonly string[] }>();

function newAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    useDefaults: true,
    verbose: true,
    // Optimising what is called a few times takes four times as long as all else.
    code: { optimize: false },
    ...options,
  });
  addFormats.default(ajv);
  ajv.addKeyword({ keyword: 'unit', schemaType: 'string' });
  for (const keyword of ['actsWith', 'idleWith']) ajv.addKeyword({ keyword, schemaType: 'object' });
  ajv.addKeyword({ keyword: 'idleOnPolicy', schemaType: 'boolean' });
  ajv.addKeyword({ keyword: 'path', metaSchema: { enum: ['file', 'file-or-name'] } });
  return ajv;
}

// One for all schemas: each new one would compile JSON Schema's own schema again.
let shapes: Ajv2020 | undefined;

function compile(schema: TSchema) {
  // Through JSON: ajv must not meet the markers that TypeBox hides in a schema.
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const plain = JSON.parse(text) as Json;
  shapes ??= newAjv();
  void shapes.validateSchema(plain, true);
  const ajv = newAjv({ meta: false, validateSchema: false });
  const made = { validate: ajv.compile(plain), knownPaths: declaredPaths(plain, '') };
  compiled.set(text, made);
  return made;
}

/** Checks a value and fills in defaults, in a copy. */
export function checkAgainst(
  schema: TSchema,
  value: unknown,
  { base, places }: { base: string; places: Places },
): { value: unknown; problems: readonly Problem[] } {
  const { knownPaths, validate } = compile(schema);
  const copy: unknown = structuredClone(value);
  if (validate(copy)) return { value: copy, problems: [] };
  // `if` only says that `else` refused, which says so itself.
  const problems = (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => explainSchemaError(error, { places, base, knownPaths }));
  return { value: copy, problems };
}

/** Problems of a plugin's block and the block with its defaults, without throwing. */
export function checkBlock(schema: TSchema, value: unknown, { path, places }: BlockPlace) {
  const base = path === '' ? '' : path.split('.').map(pointerStep).join('');
  return checkAgainst(closed(schema) as TSchema, value, { base, places });
}

/**
 * A plugin's block of YAML, checked against the plugin's own schema: unknown keys are errors, defaults are
 * filled in, the result is frozen.
 *
 * @throws AgentRlError `CONFIG_INVALID`, every problem with its place.
 */
export function validateBlock<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  place: BlockPlace,
): Static<Schema> {
  const { value: settings, problems } = checkBlock(schema, value, place);
  if (problems.length > 0) throw configInvalid(problems);
  return frozenCopy(settings) as Static<Schema>;
}
