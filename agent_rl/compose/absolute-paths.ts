import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { packageRoot } from '../core/package-root.ts';

type Known = Readonly<Record<string, PathSchema>>;

/** The parts of a JSON Schema that say where paths are. */
interface PathSchema {
  /**
   * `file`: a path, whether or not it exists yet. `file-or-name`: a path if something of that name exists, otherwise a
   * name, such as a model on the hub.
   */
  path?: 'file' | 'file-or-name';
  properties?: Known;
  items?: PathSchema;
  anyOf?: readonly PathSchema[];
}

/**
 * A path that is valid from any working directory: resolved against the current one or, if nothing is there, against
 * the package.
 */
export function absolutePath(path: string): string {
  const here = resolve(path);
  if (existsSync(here)) return here;
  const shipped = join(packageRoot(), path);
  return existsSync(shipped) ? shipped : here;
}

/**
 * A plugin's settings in which every path is absolute that the schema marks with `path: 'file'` or `path:
 * 'file-or-name'`.
 */
export function withAbsolutePaths<Value>(schema: object | undefined, value: Value): Value {
  return schema === undefined ? value : (absoluteIn(schema, value) as Value);
}

function absoluteIn(schema: PathSchema, value: unknown): unknown {
  if (typeof value === 'string') {
    if (schema.path === undefined) return value;
    const path = absolutePath(value);
    return schema.path === 'file' || existsSync(path) ? path : value;
  }
  const { items, properties, anyOf = [] } = schema;
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => absoluteIn(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.assign({}, properties, ...anyOf.map((one) => one.properties)) as Known;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const inner = known[key];
      return [key, inner === undefined ? item : absoluteIn(inner, item)];
    }),
  );
}
