function flat(value: unknown, path = ''): [string, string][] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (below.length === 0) return [[path, JSON.stringify(value)]];
  return below.flatMap(([key, part]) => flat(part, path === '' ? key : `${path}.${key}`));
}

/** Settings in which two configs differ, each as `path: before -> after`. */
export function changedSettings(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [new Map(flat(before)), new Map(flat(after))];
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => `${path}: ${old.get(path) ?? 'none'} -> ${now.get(path) ?? 'none'}`);
}
