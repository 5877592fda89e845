import { flatSettings } from '../flat-settings.ts';

/** Settings in which two configs differ, each as `path: before -> after`. */
export function changedSettings(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [new Map(flatSettings(before)), new Map(flatSettings(after))];
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => `${path}: ${old.get(path) ?? 'none'} -> ${now.get(path) ?? 'none'}`);
}
