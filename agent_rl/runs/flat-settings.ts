/** Settings one by one, each with its dotted path; lists are settings by their places. */
export function flatSettings(value: unknown, path = ''): [path: string, value: unknown][] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (below.length === 0) return [[path, value]];
  return below.flatMap(([key, part]) => flatSettings(part, path === '' ? key : `${path}.${key}`));
}

/** A setting in which two configs differ; undefined where one has no such setting. */
export interface SettingDifference {
  path: string;
  a: unknown;
  b: unknown;
}

/** Settings in which two differ, in the order of their paths. */
export function settingDifferences(a: unknown, b: unknown): SettingDifference[] {
  const [one, other] = [new Map(flatSettings(a)), new Map(flatSettings(b))];
  const paths = [...new Set([...one.keys(), ...other.keys()])].toSorted();
  return paths
    .map((path) => ({ path, a: one.get(path), b: other.get(path) }))
    .filter((row) => settingText(row.a) !== settingText(row.b));
}

/** The same, each as `path: before -> after`. */
export const changedSettings = (before: unknown, after: unknown): readonly string[] =>
  settingDifferences(before, after).map(
    ({ path, a, b }) => `${path}: ${settingText(a)} -> ${settingText(b)}`,
  );

const settingText = (value: unknown): string => JSON.stringify(value) ?? 'none';
