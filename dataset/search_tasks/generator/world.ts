import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { type EntityType, type Relation, relationsOf } from './relations.ts';

/** Something with a document about it. */
export interface Entity {
  name: string;
  type: EntityType;
  /** The value of each relation of its type. */
  facts: ReadonlyMap<string, string>;
}

/** Entities whose facts lead to each other. */
export interface World {
  entities: readonly Entity[];
  byName: ReadonlyMap<string, Entity>;
}

/** How a document states the facts of an entity. */
export type DocumentForm = (entity: Entity, rng: KeyedRng) => string;

/**
 * The form of training and of the warm-up: `A town: the Velmora mayor Tamlina; the Velmora river Olvano.` A fact follows on
 * the very words that ask for it.
 */
export const trainedForm: DocumentForm = ({ type, name, facts }, rng) =>
  `A ${type}: ${rng
    .shuffle([...facts])
    .map(([relation, value]) => `${asked(name, relation)} ${value}`)
    .join('; ')}.`;

/** How queries, documents and thoughts name a fact: `the Velmora mayor`. */
export const asked = (name: string, relation: string): string => `the ${name} ${relation}`;

/** A form that neither training nor the warm-up shows: `The mayor of Velmora is Tamlina.` */
export const unseenForm: DocumentForm = ({ name, facts }, rng) =>
  rng
    .shuffle([...facts])
    .map(([relation, value]) => `The ${relation} of ${name} is ${value}.`)
    .join(' ');

/**
 * Draws a world.
 *
 * @param size how many entities of each type
 * @param names taken from the front; each names one thing.
 */
export function makeWorld(
  size: Readonly<Record<EntityType, number>>,
  names: Iterator<string>,
  rng: KeyedRng,
): World {
  const named = (Object.entries(size) as [EntityType, number][]).flatMap(([type, count]) =>
    Array.from({ length: count }, () => ({ type, name: nextName(names) })),
  );
  const ofType = (type: EntityType): readonly string[] =>
    named.filter((one) => one.type === type).map(({ name }) => name);
  const valueOf = ({ value }: Relation, own: readonly string[]): string => {
    if (value === 'name') return nextName(names);
    if (value === 'number') return String(100 + rng.integer(900));
    return rng.pick(ofType(value).filter((name) => !own.includes(name)));
  };
  const entities = named.map(({ name, type }): Entity => {
    const facts = new Map<string, string>();
    for (const relation of relationsOf(type)) {
      facts.set(relation.name, valueOf(relation, [name, ...facts.values()]));
    }
    return { name, type, facts };
  });
  return { entities, byName: new Map(entities.map((entity) => [entity.name, entity])) };
}

function nextName(names: Iterator<string>): string {
  const next = names.next();
  if (next.done === true) throw new RangeError('There are too few names for a world of this size.');
  return next.value;
}

/** The document about an entity: its name as title, its facts in any order. */
export const documentOf = (entity: Entity, form: DocumentForm, rng: KeyedRng): SearchDocument => ({
  id: entity.name.toLowerCase(),
  title: entity.name,
  text: form(entity, rng),
});
