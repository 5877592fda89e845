import { isRecord } from '../../core/is-record.ts';
import { algorithmPresets, type AlgorithmPreset } from '../algorithm-presets.ts';
import { type Place, placeOf, pointerStep } from '../checks/problem.ts';
import { type Block, ofOtherType, put, type SourcedTree } from './sourced-tree.ts';

/**
 * Settings with those that `algorithm.name` stands for under them. The settings of a part are those of its type: a part
 * that is written with another type than the preset's takes nothing from it.
 */
export function withPreset(own: SourcedTree): SourcedTree {
  const algorithm = isRecord(own.value) ? own.value['algorithm'] : undefined;
  if (!isRecord(own.value) || !isRecord(algorithm)) return own;
  const { name } = algorithm;
  // Another value is refused by the schema, with its place.
  if (typeof name !== 'string' || !Object.hasOwn(algorithmPresets, name)) return own;
  const { settings }: AlgorithmPreset = algorithmPresets[name as keyof typeof algorithmPresets];
  const place = placeOf(own.places, '/algorithm/name');
  const places = new Map(own.places);
  const value = structuredClone(own.value);
  fill(value['algorithm'] as Block, settings, { pointer: '/algorithm', place, places });
  return { value, places };
}

interface Filling {
  pointer: string;
  place: Place;
  places: Map<string, Place>;
}

function fill(
  holder: Block,
  settings: Readonly<Record<string, unknown>>,
  { pointer, place, places }: Filling,
): void {
  for (const [key, value] of Object.entries(settings)) {
    const below = pointer + pointerStep(key);
    const written = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (isRecord(value) && (written === undefined || isRecord(written))) {
      const block: Block = written ?? {};
      if (Object.hasOwn(value, 'type') && ofOtherType(block, value)) continue;
      if (written === undefined) put(holder, key, block);
      if (!places.has(below)) places.set(below, place);
      fill(block, value, { pointer: below, place, places });
    } else if (written === undefined) {
      put(holder, key, structuredClone(value));
      places.set(below, place);
    }
  }
}
