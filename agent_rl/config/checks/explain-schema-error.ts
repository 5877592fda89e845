import type { ErrorObject } from 'ajv';

import { showValue } from '../../core/show-value.ts';
import { earlierKey, earlierSettings } from './earlier-settings.ts';
import { nearestName } from './nearest-name.ts';
import { pathOf, placeOf, type Places, pointerStep, type Problem } from './problem.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What an error is explained against. */
export interface ErrorContext {
  places: Places;
  /** Pointer of the validated value within the file. */
  base: string;
  /** Dotted paths of all settings, to say where a misplaced key belongs. */
  knownPaths: readonly string[];
}

const names = (list: readonly unknown[]): string => list.map((name) => String(name)).join(', ');

/** One of ajv's errors as a problem with its place in the file. */
export function explainSchemaError(error: ErrorObject, context: ErrorContext): Problem {
  const pointer = context.base + error.instancePath;
  const path = pathOf(pointer).join('.');
  if (error.keyword === 'additionalProperties') return unknownKey(error, pointer, context);
  const { value: location } = placeOf(context.places, pointer);
  if (error.keyword !== 'required') return { location, path, text: wrongValue(error, path) };
  const name = String(error.params['missingProperty']);
  const missing = [...pathOf(pointer), name].join('.');
  // A key that is known is itself what was meant.
  const known = (error.parentSchema?.['properties'] as object | undefined) ?? {};
  const unknown = Object.keys((error.data as object | null) ?? {}).filter(
    (key) => !Object.hasOwn(known, key),
  );
  const meant = nearestName(name, unknown);
  const hint = meant === undefined ? '' : ` Is "${meant}" a misspelling of "${name}"?`;
  return { location, path: missing, text: `is missing.${described(error, name)}${hint}` };
}

function described({ parentSchema }: ErrorObject, name: string): string {
  const properties = parentSchema?.['properties'] as Record<string, Schema> | undefined;
  const description = properties?.[name]?.['description'];
  return typeof description === 'string' ? ` ${description}.` : '';
}

function unknownKey(error: ErrorObject, pointer: string, context: ErrorContext): Problem {
  const key = String(error.params['additionalProperty']);
  const path = [...pathOf(pointer), key].join('.');
  const { key: location } = placeOf(context.places, pointer + pointerStep(key));
  // A block whose keys are names says in its description which names it takes.
  if (error.parentSchema?.['patternProperties'] !== undefined)
    return {
      location,
      path,
      text: `is not an allowed name. ${error.parentSchema['description']}.`,
    };
  const allowed = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
  const near = nearestName(key, allowed);
  const elsewhere = context.knownPaths.find((known) => known.split('.').at(-1) === key);
  const earlier = earlierSettings(path, (error.data as Schema | undefined)?.[key]);
  const hint =
    earlierText(earlier) || meantText(near) || earlierText(earlierKey(key)) || meantText(elsewhere);
  const text = `is not a known key.${hint} Allowed: ${names(allowed) || 'none'}.`;
  return { location, path, text };
}

const meantText = (name: string | undefined): string =>
  name === undefined ? '' : ` Did you mean "${name}"?`;

const earlierText = (says: readonly string[]): string =>
  says.length === 0 ? '' : ` ${says.join('; ')}.`;

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

const typeNames: Readonly<Record<string, string>> = {
  object: 'block of keys and values',
  array: 'list',
  string: 'text',
  boolean: 'true or false',
};

const typeName = (type: unknown): string => {
  const name = typeNames[String(type)] ?? String(type);
  return name === 'text' || name.includes(' or ') ? name : article(name);
};

/** How to write a name that was given instead of the block it belongs in. */
function asBlock(data: unknown, schema: unknown): string {
  if (typeof data !== 'string' || !/^[\w+-]+$/.test(data)) return '';
  const properties = Object.keys((schema as Schema | undefined)?.['properties'] ?? {});
  const key = ['type', 'name'].find((name) => properties.includes(name));
  return key === undefined ? '' : ` Write { ${key}: ${data} }.`;
}

function wrongValue(
  { keyword, params, data, message, parentSchema }: ErrorObject,
  path: string,
): string {
  const got = `got ${showValue(data, 60)}`;
  switch (keyword) {
    case 'type': {
      const types = [params['type'] as string | string[]].flat().map(typeName);
      const empty = data === null ? ' (no value after the colon)' : '';
      const hint = asBlock(data, parentSchema) || earlierText(earlierSettings(path, data));
      return `expected ${types.join(' or ')}, ${got}${empty}.${hint}`;
    }
    case 'enum': {
      const allowed = params['allowedValues'] as readonly unknown[];
      const near = typeof data === 'string' ? nearestName(data, allowed.map(String)) : undefined;
      const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
      return `expected one of ${names(allowed)}, ${got}.${hint}`;
    }
    case 'pattern': {
      const description = parentSchema?.['description'];
      const allowed =
        typeof description === 'string' ? description : `text like ${String(params['pattern'])}`;
      return `${got}. Allowed: ${allowed}.`;
    }
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${String(params['comparison'])} ${String(params['limit'])}, ${got}.`;
    default:
      return `${message ?? 'is not valid'}, ${got}.`;
  }
}
