import { injectFromBase, LazyServiceIdentifier } from 'inversify';

import type { Class } from '../../core/plugins/class.ts';
import { isClass } from '../../core/plugins/plugin-rules.ts';

/** Something a class is given by the container. */
export interface Injection {
  token: unknown;
  /** Index of a constructor's parameter, or name of a property. */
  place: number | string | symbol;
}

interface ClassRecord {
  constructorArguments: readonly (Asked | undefined)[];
  properties: ReadonlyMap<string | symbol, Asked>;
}

interface Asked {
  value?: unknown;
}

/**
 * What a plugin asks for with `@inject(TOKEN)`, in its own class or in one it extends; nothing for a function.
 *
 * A class that extends another and injects nothing itself is given what that one asks for: inversify alone would make
 * it with `undefined` in those places.
 */
export function injectionsOf(plugin: unknown): readonly Injection[] {
  inherit(plugin);
  const record = recordOf(plugin);
  if (record === undefined) return [];
  return [...record.constructorArguments.entries(), ...record.properties].flatMap(
    ([place, asked]) => (asked === undefined ? [] : [{ token: tokenOf(asked), place }]),
  );
}

/** Whether a plugin asks for what a token stands for. */
export const asksFor = (plugin: unknown, wanted: symbol): boolean =>
  injectionsOf(plugin).some(({ token }) => token === wanted);

/** Why a class cannot be made, as far as its constructor tells, or `undefined`. */
export function constructorProblem(plugin: unknown): string | undefined {
  if (!isClass(plugin) || injectionsOf(plugin).length > 0) return undefined;
  const { length, name } = plugin as Class<unknown>;
  if (length < 2) return undefined;
  return `the constructor of ${name} has ${length} parameters and asks for nothing with @inject(TOKEN). Take one object, constructor({ task, settings, sandbox }), or give every parameter its @inject.`;
}

const tokenOf = ({ value }: Asked): unknown =>
  LazyServiceIdentifier.is(value) ? value.unwrap() : value;

/** Base classes first, so that a chain of any length is followed. */
function inherit(plugin: unknown): void {
  if (typeof plugin !== 'function' || recordOf(plugin) !== undefined) return;
  const base: unknown = Object.getPrototypeOf(plugin);
  if (base === Function.prototype) return;
  inherit(base);
  if (recordOf(base) !== undefined) injectFromBase()(plugin as Class<unknown>);
}

/** Found by its form: inversify does not say under which key it keeps it. */
function recordOf(plugin: unknown): ClassRecord | undefined {
  const keys = Reflect.getOwnMetadataKeys(plugin as object) as readonly unknown[];
  return keys
    .map((key) => Reflect.getOwnMetadata(key, plugin as object) as Partial<ClassRecord> | undefined)
    .find((record): record is ClassRecord => Array.isArray(record?.constructorArguments));
}
