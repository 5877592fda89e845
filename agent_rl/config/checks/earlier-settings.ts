import { isRecord } from '../../core/is-record.ts';
import { earlierSystems, sameFlags } from '../earlier-systems.ts';

const settings = earlierSystems.flatMap(({ name, rows }) =>
  rows.flatMap(([theirs, ours]) => {
    if (ours === sameFlags) return [];
    const now = ours.replaceAll('`', '');
    const instead = now.startsWith('not carried over') ? ` is ${now}` : `: use ${now}`;
    const keys = [...theirs.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key);
    return keys.map((key) => ({ key, says: `${key} of ${name}${instead}` }));
  }),
);

/** The names here of a setting of earlier systems: of a dotted path or a flag, and of the keys in its value. */
export function earlierSettings(path: string, value?: unknown): string[] {
  const own = settings.find(({ key }) => key === path);
  const inner = isRecord(value) ? Object.entries(value) : [];
  return [
    ...(own === undefined ? [] : [own.says]),
    ...inner.flatMap(([key, part]) => earlierSettings(`${path}.${key}`, part)),
  ];
}

/** The same of a key by itself, wherever it was written. */
export const earlierKey = (name: string): string[] =>
  settings
    .filter(({ key }) => key.split('.').at(-1) === name)
    .slice(0, 1)
    .map(({ says }) => says);
