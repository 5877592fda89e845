import { expect, test } from '@jest/globals';

/** What the marks of all plugins have. */
interface MarkedSpec {
  name: string;
  description?: string;
  settings?: unknown;
}

export const snakeCase = /^[a-z][a-z0-9_]*$/;
const anyName = /^[A-Za-z][A-Za-z0-9_.-]*$/;

/** A name, a description that says something, and settings without the names that a block of the run file has taken. */
export function expectSpec(spec?: MarkedSpec, { taken = ['type'], names = anyName } = {}): void {
  expect(spec?.name).toMatch(names);
  expect(spec?.description).toMatch(/\S.{9,}/);
  const { properties = {} } = (spec?.settings ?? {}) as { properties?: object };
  expect(Object.keys(properties).filter((key) => taken.includes(key))).toEqual([]);
}

/** A value that nothing can be written to, so that a plugin that changes what it is given is found. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** Tests that may each take this long. */
export const testsWithin =
  (seconds: number) =>
  (title: string, body: () => Promise<void>): void => {
    // oxlint-disable-next-line jest/valid-title -- what it is given
    test(title, body, 1000 * seconds);
  };
