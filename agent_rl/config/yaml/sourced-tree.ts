import { isRecord } from '../../core/is-record.ts';
import { type Place, type Places, pointerStep } from '../checks/problem.ts';

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

/** Whether a part is written with another type than the one below it, whose settings are not its own. */
export const ofOtherType = (
  written: Readonly<Record<string, unknown>>,
  below: Readonly<Record<string, unknown>>,
): boolean => Object.hasOwn(written, 'type') && written['type'] !== below['type'];

/** `upper` over `lower`: blocks are merged key by key, everything else is replaced whole, lists too. */
export function mergeTrees(lower: SourcedTree, upper: SourcedTree): SourcedTree {
  const places = new Map(lower.places);
  const value = mergeAt('', lower.value, { tree: upper, value: upper.value, places });
  return { value, places };
}

interface Upper {
  tree: SourcedTree;
  value: unknown;
  places: Map<string, Place>;
}

/** A part of an algorithm, whose settings are those of its type. */
const isPart = (pointer: string): boolean =>
  /^\/algorithm\/(?:advantage|loss|correction|selection)$/.test(pointer);

function mergeAt(pointer: string, lower: unknown, upper: Upper): unknown {
  const changesType =
    isPart(pointer) && isRecord(upper.value) && isRecord(lower) && ofOtherType(upper.value, lower);
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
