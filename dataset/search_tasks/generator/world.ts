import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { documentText, drawForm, type StatedFact, type Subject, type Wording } from './form.ts';
import { type EntityType, type Relation, relationsOf } from './relations.ts';

/** Something of the world. */
export interface Entity {
  name: string;
  type: EntityType;
  /** The value of each relation of its type that its document states. */
  facts: ReadonlyMap<string, string>;
  /** What its document says held formerly. */
  earlier: ReadonlyMap<string, string>;
  /** Whether there is a document about it. */
  documented: boolean;
  /** Another thing of its type, `Old Velmora`, that its document may be mistaken for. */
  namesake?: Namesake;
}

export type Namesake = Pick<Entity, 'name' | 'type' | 'facts' | 'earlier'>;

/** Entities whose facts lead to each other. */
export interface World {
  entities: readonly Entity[];
  byName: ReadonlyMap<string, Entity>;
}

/** Shares of entities: one fact is stated nowhere, one former fact is stated, there is a namesake. */
const shares = { incomplete: 0.4, former: 0.4, namesake: 0.3 };

const namesakePrefixes = ['Old', 'New', 'Little'] as const;

type Named = Pick<Entity, 'name' | 'type'>;

/**
 * Draws a world.
 *
 * @param size how many entities of each type
 * @param names taken from the front; each names one thing.
 * @param undocumented share of things without a document
 */
export function makeWorld(
  size: Readonly<Record<EntityType, number>>,
  names: Iterator<string>,
  rng: KeyedRng,
  undocumented = 0.05,
): World {
  const named = (Object.entries(size) as [EntityType, number][]).flatMap(([type, count]) =>
    Array.from({ length: count }, (): Named => ({ type, name: nextName(names) })),
  );
  const draw = new FactDraw(named, names, rng);
  const entities = named.map((one) => {
    const own = rng.child('entity', one.name);
    const documented = own.child('undocumented').uniform() >= undocumented;
    return entityOf({ ...one, documented }, draw, own);
  });
  return { entities, byName: new Map(entities.map((entity) => [entity.name, entity])) };
}

function entityOf(
  { name, type, documented }: Named & Pick<Entity, 'documented'>,
  draw: FactDraw,
  rng: KeyedRng,
): Entity {
  const happens = (what: keyof typeof shares): boolean => rng.child(what).uniform() < shares[what];
  const relations = relationsOf(type);
  const facts = draw.facts(type, [name]);
  if (happens('incomplete')) facts.delete(rng.child('left out').pick(relations).name);
  const earlier = new Map<string, string>();
  const past = rng.child('past').pick(relations);
  const taken = [name, ...facts.values()];
  if (happens('former') && past.value !== 'number') {
    earlier.set(past.name, draw.value(past, taken));
  }
  const entity = { name, type, facts, earlier, documented };
  if (!happens('namesake')) return entity;
  const prefix = rng.child('prefix').pick(namesakePrefixes);
  const others = draw.facts(type, [...taken, ...earlier.values()]);
  return {
    ...entity,
    namesake: { name: `${prefix} ${name}`, type, facts: others, earlier: new Map() },
  };
}

/** Draws values that are other things of the world, or new ones. */
class FactDraw {
  constructor(
    private readonly named: readonly Named[],
    private readonly names: Iterator<string>,
    private readonly rng: KeyedRng,
  ) {}

  /** All facts of a type, no value among those taken or twice. */
  facts(type: EntityType, taken: readonly string[]): Map<string, string> {
    const facts = new Map<string, string>();
    for (const relation of relationsOf(type)) {
      facts.set(relation.name, this.value(relation, [...taken, ...facts.values()]));
    }
    return facts;
  }

  value({ value }: Relation, taken: readonly string[]): string {
    if (value === 'name') return nextName(this.names);
    const candidates =
      value === 'number'
        ? Array.from({ length: 900 }, (_, i) => String(100 + i))
        : this.named.filter(({ type }) => type === value).map(({ name }) => name);
    return this.rng.pick(candidates.filter((one) => !taken.includes(one)));
  }
}

function nextName(names: Iterator<string>): string {
  const next = names.next();
  if (next.done === true) throw new RangeError('There are too few names for a world of this size.');
  return next.value;
}

/** A document, what it states and how. */
export interface WrittenDocument extends SearchDocument {
  /** Type of the entity that it is about. */
  type: EntityType;
  wording: Wording;
  /** In the order of the text, each with where its statement ends. */
  stated: readonly (StatedFact & { end: number })[];
}

/** The documents about an entity: its own, and that of its namesake. Facts stand in any order. */
export function documentsOf(
  { name, type, facts, earlier, documented, namesake }: Entity,
  wordings: readonly Wording[],
  rng: KeyedRng,
): WrittenDocument[] {
  const written = [
    ...(documented ? [{ name, type, facts, earlier }] : []),
    ...(namesake === undefined ? [] : [namesake]),
  ];
  return written.map(({ name: title, type: of, facts: now, earlier: then }) => {
    const draw = rng.child(title);
    const stated = draw.shuffle([...statedFacts(now, false), ...statedFacts(then, true)]);
    const subject: Subject = { title, type: of, facts: stated };
    const form = drawForm(wordings, draw);
    const { text, ends } = documentText(subject, form);
    return {
      id: documentId(title),
      title,
      text,
      type: of,
      wording: { mention: form.mention, link: form.link },
      stated: ends.map((end, index) => Object.assign({}, stated[index]!, { end })),
    };
  });
}

const statedFacts = (facts: ReadonlyMap<string, string>, earlier: boolean): StatedFact[] =>
  [...facts].map(([relation, value]) => ({ relation, value, earlier }));

export const documentId = (title: string): string => title.toLowerCase().replaceAll(' ', '-');
