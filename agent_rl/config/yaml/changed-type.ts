import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { type AlgorithmPreset, algorithmPresets } from '../algorithm-presets.ts';
import { AlgorithmBlock } from '../blocks/algorithm-block.ts';
import { type Place, pointerStep } from '../checks/problem.ts';
import { type Block, isPart } from './sourced-tree.ts';

/** A value set from the command line. */
interface Given {
  source: string;
  /** Dotted. */
  path: string;
  value: unknown;
}

/**
 * Removes a part's settings when an override changes the part's type: settings belong to a type, and a bound of one
 * loss means something else in another. Files that extend files do the same.
 *
 * @param root changed in place
 * @param overrides all that are given: what they set stays
 * @returns what was removed, one sentence
 */
export function leaveOutOtherType(
  root: Block,
  places: Map<string, Place>,
  { override, overrides }: { override: Given; overrides: readonly Given[] },
): string | undefined {
  if (!override.path.endsWith('.type')) return undefined;
  const path = override.path.slice(0, -'.type'.length);
  const steps = path.split('.');
  const at = steps.map(pointerStep).join('');
  const part = steps.pop() ?? '';
  const holder = steps.reduce<unknown>(childOf, root);
  const block = isRecord(holder) ? holder[part] : undefined;
  if (!isRecord(holder) || !isRecord(block) || !isPart(at, block)) return undefined;
  const before = typeOf(part, holder);
  // Another value than a name is refused by the schema.
  const { value: type } = override;
  if (typeof type !== 'string' || type === before) return undefined;
  const given = new Set(overrides.map(({ source }) => source));
  const left = Object.keys(block).filter((key) => {
    const pointer = at + pointerStep(key);
    return key !== 'type' && !given.has(places.get(pointer)?.value.source ?? '');
  });
  if (left.length === 0) return undefined;
  const shown = left.map((key) => `${key}: ${showValue(block[key])}`).join(', ');
  for (const key of left) {
    delete (block as Block)[key];
    places.delete(at + pointerStep(key));
  }
  const [first = ''] = left;
  return `${override.source}: ${path} has settings for the type ${before} (${shown}), which are ignored, because its type is now ${type}. Set the settings for ${type} too, such as --set ${path}.${first}=….`;
}

const childOf = (holder: unknown, key: string): unknown =>
  isRecord(holder) || Array.isArray(holder)
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : undefined;

interface Typed {
  properties?: Readonly<Record<string, { default?: unknown }>>;
}

/** The type of a part: as it is written, as `algorithm.name` has it, or as the default. */
function typeOf(part: string, algorithm: Readonly<Record<string, unknown>>): string {
  const { name } = algorithm;
  const known = typeof name === 'string' && Object.hasOwn(algorithmPresets, name);
  const preset: AlgorithmPreset | undefined = known
    ? algorithmPresets[name as keyof typeof algorithmPresets]
    : undefined;
  const usual = (AlgorithmBlock.properties as Readonly<Record<string, Typed>>)[part];
  const types = [algorithm[part], preset?.settings[part]].map((one) =>
    isRecord(one) ? one['type'] : undefined,
  );
  return String(types.find((type) => type !== undefined) ?? usual?.properties?.['type']?.default);
}
