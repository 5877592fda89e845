import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { isPluginBlock } from '../config-schema.ts';
import { pathOf, type Place, placeOf, type Places, pointerStep } from '../checks/problem.ts';

/** A value and where each part of it was written. */
export interface SourcedTree {
  value: unknown;
  places: Places;
}

export type Block = Record<string, unknown>;

/** Sets an own property even when the key is `__proto__`. */
export function put(block: Block, key: string, value: unknown): void {
  Object.defineProperty(block, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Whether a part has another type than the one it overrides, whose settings then do not apply. */
export const ofOtherType = (
  written: Readonly<Record<string, unknown>>,
  below: Readonly<Record<string, unknown>>,
): boolean => Object.hasOwn(written, 'type') && written['type'] !== below['type'];

/**
 * `upper` over `lower`: blocks are merged key by key, everything else is replaced whole, lists too.
 *
 * @returns `leftOut`: settings of a part whose type `upper` changes, one sentence each
 */
export function mergeTrees(
  lower: SourcedTree,
  upper: SourcedTree,
): SourcedTree & { leftOut: readonly string[] } {
  const places = new Map(lower.places);
  const leftOut: string[] = [];
  const value = mergeAt('', lower.value, { tree: upper, value: upper.value, places, leftOut });
  return { value, places, leftOut };
}

interface Upper {
  tree: SourcedTree;
  value: unknown;
  places: Map<string, Place>;
  leftOut: string[];
}

/**
 * Whether a block is a part whose settings belong to its type.
 *
 * @param lower the lower block; without a type, its settings may belong to another type
 */
export const isPart = (pointer: string, lower: unknown): boolean =>
  isPluginBlock(pathOf(pointer)) &&
  !/\/\d+$/.test(pointer) &&
  (pointer.startsWith('/algorithm/') || (isRecord(lower) && Object.hasOwn(lower, 'type')));

/**
 * The settings that a part of another type drops from the part it overrides; undefined if there are no such settings.
 */
function leftOutOf(
  pointer: string,
  lower: Readonly<Record<string, unknown>>,
  { tree, value, places }: Upper,
): string | undefined {
  const lost = Object.entries(lower).filter(([key]) => key !== 'type');
  if (lost.length === 0) return undefined;
  const shown = lost.map(([key, one]) => `${key}: ${showValue(one)}`).join(', ');
  const [by, from] = [tree.places, places].map((all) => placeOf(all, pointer).value.source);
  return `${pathOf(pointer).join('.')}: ${by} sets the type ${showValue(isRecord(value) ? value['type'] : value)}, so the settings that ${from} has for another type are ignored (${shown}).`;
}

function mergeAt(pointer: string, lower: unknown, upper: Upper): unknown {
  const changesType =
    isPart(pointer, lower) &&
    isRecord(upper.value) &&
    isRecord(lower) &&
    ofOtherType(upper.value, lower);
  if (changesType) {
    const sentence = leftOutOf(pointer, lower, upper);
    if (sentence !== undefined) upper.leftOut.push(sentence);
  }
  if (isRecord(lower) && isRecord(upper.value) && !changesType) {
    const merged: Block = { ...lower };
    for (const [key, value] of Object.entries(upper.value)) {
      const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
      put(merged, key, mergeAt(pointer + pointerStep(key), below, { ...upper, value }));
    }
    const place = upper.tree.places.get(pointer);
    if (place !== undefined) upper.places.set(pointer, place);
    return merged;
  }
  for (const old of upper.places.keys()) {
    if (old === pointer || old.startsWith(`${pointer}/`)) upper.places.delete(old);
  }
  for (const [at, place] of upper.tree.places) {
    if (at === pointer || at.startsWith(`${pointer}/`)) upper.places.set(at, place);
  }
  return upper.value;
}

/** The value with every object in it frozen; a copy, so that the caller's own is left alone. */
export function frozenCopy<Value>(value: Value): Value {
  const copy: Value = structuredClone(value);
  const freeze = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    Object.values(part).forEach(freeze);
    Object.freeze(part);
  };
  freeze(copy);
  return copy;
}
