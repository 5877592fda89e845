import { AgentRlError, type ErrorCode } from '../../core/errors.ts';

/** Where a value was written: a place in a file, or a flag. */
export interface Location {
  /** A file, or the flag as it was given. */
  source: string;
  /** From 1; absent for flags. */
  line?: number;
  /** From 1; absent for flags. */
  column?: number;
}

/** Places of a key and of its value. */
export interface Place {
  key: Location;
  value: Location;
}

/** Places by JSON pointer: of `train.iterations`, `/train/iterations`. */
export type Places = ReadonlyMap<string, Place>;

/** One thing wrong with a config. */
export interface Problem {
  location: Location;
  /** Dotted, `train.iterations`; empty for a whole file. */
  path: string;
  /** What is wrong, the value, what is allowed. */
  text: string;
}

/** A key as one step of a JSON pointer (RFC 6901). */
export const pointerStep = (key: string | number): string =>
  `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** `/train/iterations` as `['train', 'iterations']`. */
export const pathOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The place of the value at a pointer, or of the nearest enclosing block in the file. */
export function placeOf(places: Places, pointer: string): Place {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = places.get(at);
    if (place !== undefined) return place;
    if (at === '') return { key: { source: 'config' }, value: { source: 'config' } };
  }
}

/** `file:line:column path: text`. */
function formatProblem({ location, path, text }: Problem): string {
  const { source, line, column } = location;
  const place = line === undefined ? source : `${source}:${line}:${column}`;
  return path === '' ? `${place} ${text}` : `${place} ${path}: ${text}`;
}

/** All problems as one error, in the order of their places. */
export function configInvalid(
  problems: readonly Problem[],
  code: ErrorCode = 'CONFIG_INVALID',
): AgentRlError {
  const lines = problems
    .toSorted(
      (a, b) =>
        a.location.source.localeCompare(b.location.source) ||
        (a.location.line ?? 0) - (b.location.line ?? 0) ||
        (a.location.column ?? 0) - (b.location.column ?? 0),
    )
    .map(formatProblem);
  const unique = [...new Set(lines)];
  const count = unique.length === 1 ? '1 problem' : `${unique.length} problems`;
  return new AgentRlError(code, `The config has ${count}:\n  ${unique.join('\n  ')}`);
}
