import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { algorithmPresets, type AlgorithmPreset } from '../algorithm-presets.ts';
import { type Place, placeOf, pointerStep } from '../checks/problem.ts';
import { type Block, ofOtherType, put, type SourcedTree } from './sourced-tree.ts';

/**
 * Settings merged over the preset of `algorithm.name`. A part's settings belong to its type: a part with another type
 * than the preset's takes nothing from it.
 */
export function withPreset(own: SourcedTree): SourcedTree & { warnings: readonly string[] } {
  const algorithm = isRecord(own.value) ? own.value['algorithm'] : undefined;
  if (!isRecord(own.value) || !isRecord(algorithm)) return { ...own, warnings: [] };
  const { name } = algorithm;
  // Another value is refused by the schema, with its place.
  if (typeof name !== 'string' || !Object.hasOwn(algorithmPresets, name))
    return { ...own, warnings: [] };
  const { settings }: AlgorithmPreset = algorithmPresets[name as keyof typeof algorithmPresets];
  const place = placeOf(own.places, '/algorithm/name');
  const places = new Map(own.places);
  const value = structuredClone(own.value);
  const warnings: string[] = [];
  const filling = { name, pointer: '/algorithm', place, places, warnings };
  fill(value['algorithm'] as Block, settings, filling);
  return { value, places, warnings };
}

interface Filling {
  name: string;
  pointer: string;
  place: Place;
  places: Map<string, Place>;
  warnings: string[];
}

function fill(
  holder: Block,
  settings: Readonly<Record<string, unknown>>,
  { pointer, ...filling }: Filling,
): void {
  const { place, places } = filling;
  for (const [key, value] of Object.entries(settings)) {
    const below = pointer + pointerStep(key);
    const written = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (isRecord(value) && (written === undefined || isRecord(written))) {
      const block: Block = written ?? {};
      if (Object.hasOwn(value, 'type') && ofOtherType(block, value)) {
        const types = { written: block['type'], value: value['type'] };
        const overruled = overruledBy(`${below}/type`, types, filling);
        if (overruled !== undefined) filling.warnings.push(overruled);
        continue;
      }
      if (written === undefined) put(holder, key, block);
      if (!places.has(below)) places.set(below, place);
      fill(block, value, { ...filling, pointer: below });
    } else if (written === undefined) {
      put(holder, key, structuredClone(value));
      places.set(below, place);
    } else if (!isRecord(written) && written !== value) {
      const overruled = overruledBy(below, { written, value }, filling);
      if (overruled !== undefined) filling.warnings.push(overruled);
    }
  }
}

/** Reports a setting from elsewhere that overrides the preset's: it may have been meant for another algorithm. */
function overruledBy(
  pointer: string,
  { written, value }: { written: unknown; value: unknown },
  { name, place, places }: Omit<Filling, 'pointer'>,
): string | undefined {
  const { source, line } = placeOf(places, pointer).value;
  if (source === place.value.source || line === undefined) return undefined;
  const path = pointer.slice(1).replaceAll('/', '.');
  return `${source}:${line} ${path}: is ${showValue(written)}, but the algorithm ${name} (${place.value.source}) uses ${showValue(value)}. Your value is used. If you set it for another algorithm, remove it.`;
}
