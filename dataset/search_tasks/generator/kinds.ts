import { type EntityType, type Relation, relations } from './relations.ts';

/** A kind of question: one relation, or a second one asked of what the first leads to. */
export interface Kind {
  /** Relations joined by a dash, in the order they are looked up. */
  name: string;
  subject: EntityType;
  /** In the order they are looked up. */
  path: readonly [Relation] | readonly [Relation, Relation];
}

const kindOf = (...path: [Relation] | [Relation, Relation]): Kind => ({
  name: path.map(({ name }) => name).join('-'),
  subject: path[0].of,
  path,
});

export const oneHopKinds: readonly Kind[] = relations.map((relation) => kindOf(relation));

const pairs: readonly Kind[] = relations.flatMap((first) =>
  relations.filter((second) => second.of === first.value).map((second) => kindOf(first, second)),
);

const unseenPairs = new Set([
  'mayor-spouse',
  'founder-hometown',
  'teacher-teacher',
  'spouse-hometown',
  'ruler-teacher',
  'builder-spouse',
  'hometown-founder',
  'haven-river',
]);

/** Two-hop kinds that are trained. */
export const twoHopKinds = pairs.filter(({ name }) => !unseenPairs.has(name));

/** Two-hop kinds never trained on, nor shown in the warm-up; both halves of each are trained in other pairs. */
export const unseenKinds = pairs.filter(({ name }) => unseenPairs.has(name));

export const trainedKinds: readonly Kind[] = [...oneHopKinds, ...twoHopKinds];
