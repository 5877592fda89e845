import { mean, sum } from '../algorithms/statistics.ts';
import type { Part, Rollout } from '../core/rollout.ts';

/** Numbers by name, of one episode or of many. */
export type NamedNumbers = Readonly<Record<string, number>>;

/** The mean of each name over several records, sorted by name. A name that a record lacks counts as `lacking` in it, or not at all. */
export const meansByName = (records: readonly NamedNumbers[], lacking?: 0) =>
  byName(records, mean, lacking);

/** The sum of each name over several records, sorted by name. */
export const sumsByName = (records: readonly NamedNumbers[]) => byName(records, sum);

function byName(
  records: readonly NamedNumbers[],
  of: (values: readonly number[]) => number,
  lacking?: 0,
): Record<string, number> {
  const names = [...new Set(records.flatMap(Object.keys))].toSorted();
  const valuesOf = (name: string): number[] =>
    records.flatMap((record) => (Object.hasOwn(record, name) ? record[name] : lacking) ?? []);
  return Object.fromEntries(names.map((name) => [name, of(valuesOf(name))]));
}

/** Names with that of their family of metrics before them, `family/name`. */
export const inFamily = <Family extends string, Value>(
  family: Family,
  values: Readonly<Record<string, Value>>,
): Record<`${Family}/${string}`, Value> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${family}/${name}`, value]),
  ) as Record<`${Family}/${string}`, Value>;

/** Numbers of the parts of a rollout side by side, under the agents' names where there are several. */
export const sideBySide = (
  { parts }: Pick<Rollout, 'parts'>,
  numbersOf: (part: Part) => NamedNumbers,
): NamedNumbers =>
  Object.assign(
    {},
    ...parts.map((part) =>
      parts.length === 1 ? numbersOf(part) : inFamily(part.agent, numbersOf(part)),
    ),
  );
