/** The leaves of a config with their dotted paths, each value as JSON; places in lists are numbers. */
export function flatSettings(value: unknown, path = ''): [path: string, json: string][] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (below.length === 0) return [[path, JSON.stringify(value)]];
  return below.flatMap(([key, part]) => flatSettings(part, path === '' ? key : `${path}.${key}`));
}
