import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { definition, type Form, type Forms } from './form.ts';
import { type Owner, pickNames, relationsOf, thingsOf } from './names.ts';

/** A relation of a world: each thing has one of the things. */
export interface Relation {
  name: string;
  form: Form;
  values: ReadonlyMap<string, string>;
}

/** What only the sandbox knows. */
export interface World {
  things: readonly string[];
  /** Those that are asked about first, in order of their use; then those that are not. */
  relations: readonly Relation[];
}

const thingCount = 8;

/** Relations that are there and not asked about. */
const spareCount = 2;

/** A world with relations of these forms and some more. */
export function makeWorld(
  forms: Forms,
  owner: Owner,
  spareForms: readonly Form[],
  rng: KeyedRng,
): World {
  const things = pickNames(thingsOf[owner], thingCount, rng.child('things'));
  const spare = Array.from({ length: spareCount }, () => rng.pick(spareForms));
  const all = [...forms, ...spare];
  const names = pickNames(relationsOf[owner], all.length, rng.child('relations'));
  return {
    things,
    relations: all.map((form, at) => ({
      name: names[at] ?? '',
      form,
      values: derangement(things, rng.child('values', at)),
    })),
  };
}

/** The same things, names and forms with other values. */
export const otherValues = ({ things, relations }: World, rng: KeyedRng): World => ({
  things,
  relations: relations.map((relation, at) => ({
    ...relation,
    values: derangement(things, rng.child('values', at)),
  })),
});

/** Each thing of another, and of no two the same. */
function derangement(things: readonly string[], rng: KeyedRng): Map<string, string> {
  const values = rng.shuffle(things);
  return things.some((thing, at) => values[at] === thing)
    ? derangement(things, rng)
    : new Map(things.map((thing, at) => [thing, values[at] ?? thing]));
}

/** What is met on the way from a thing along relations, itself first. */
export function walk(start: string, chain: readonly Relation[]): string[] {
  const met = [start];
  for (const { values } of chain) met.push(values.get(met.at(-1) ?? '') ?? '');
  return met;
}

/** Python that makes the world. The order tells nothing. */
export const setupOf = ({ relations }: World, rng: KeyedRng): string =>
  [
    'import json, types',
    ...rng.shuffle(relations).map(({ name, form, values }) => definition(name, form, values)),
  ].join('\n');
