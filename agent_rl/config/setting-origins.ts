import { isRecord } from '../core/is-record.ts';
import type { LoadedConfig } from './load-config.ts';
import { type Place, placeOf, type Places, pointerStep } from './checks/problem.ts';

/** Where a setting was written: `program` if a program gave it, `preset` if `algorithm.name` implies it. */
export interface SettingOrigin {
  source: 'file' | 'flag' | 'preset' | 'program' | 'default';
  /** `configs/a.yaml:12`, or the flag as it was given; absent for defaults. */
  place?: string;
}

/** Origins by dotted path. */
export type SettingOrigins = Readonly<Record<string, SettingOrigin>>;

/** Where each setting of a config comes from: items of a list by their index, an empty block or list as a whole. */
export function settingOrigins(
  { written, places }: Pick<LoadedConfig, 'written' | 'places'>,
  config: object,
): SettingOrigins {
  return Object.fromEntries(
    leaves(config).map((steps) => [steps.join('.'), originOf(steps, written, places)]),
  );
}

function leaves(value: unknown, steps: readonly string[] = []): (readonly string[])[] {
  const parts = isRecord(value) || Array.isArray(value) ? Object.entries(value) : [];
  if (parts.length === 0) return [steps];
  return parts.flatMap(([key, part]) => leaves(part, [...steps, key]));
}

function originOf(steps: readonly string[], written: unknown, places: Places): SettingOrigin {
  if (!isWritten(steps, written)) return { source: 'default' };
  const pointer = steps.map(pointerStep).join('');
  const place = placeOf(places, pointer);
  return { source: kindOf(place, pointer, places), place: inWords(place) };
}

function isWritten(steps: readonly string[], written: unknown): boolean {
  let at = written;
  for (const step of steps) {
    if ((!isRecord(at) && !Array.isArray(at)) || !Object.hasOwn(at, step)) return false;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return true;
}

function kindOf(
  place: Place,
  pointer: string,
  places: Places,
): Exclude<SettingOrigin['source'], 'default'> {
  // Settings of a preset get the place of the algorithm's name.
  const named = '/algorithm/name';
  if (pointer.startsWith('/algorithm/') && pointer !== named && place === places.get(named))
    return 'preset';
  if (place.value.line !== undefined) return 'file';
  return place.value.source.startsWith('--') ? 'flag' : 'program';
}

const inWords = ({ value: { source, line } }: Place): string =>
  line === undefined ? source : `${source}:${line}`;
