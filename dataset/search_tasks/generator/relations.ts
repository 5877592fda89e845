/** Kinds of things in the fictional world. */
export type EntityType = 'town' | 'person' | 'land' | 'ship';

/** A fact that every entity of a type has. */
export interface Relation {
  /** The word that queries use, and documents as a heading. Unique among all relations. */
  name: string;
  of: EntityType;
  /** What the value is: another entity, a name without a document, or a number. */
  value: EntityType | 'name' | 'number';
  /** Questions; `{}` is the entity, or what leads to it. The first words of a question never decide it alone. */
  wordings: readonly string[];
}

const table: [name: string, EntityType, Relation['value'], wordings: string[]][] = [
  ['mayor', 'town', 'person', ['Who is the mayor of {}?', 'Who governs {}?']],
  ['founder', 'town', 'person', ['Who is the founder of {}?', 'Who founded {}?']],
  ['river', 'town', 'name', ['Which river runs through {}?', 'What is the river of {}?']],
  ['hometown', 'person', 'town', ['Where is {} from?', 'What is the hometown of {}?']],
  ['teacher', 'person', 'person', ['Who taught {}?', 'Who is the teacher of {}?']],
  ['spouse', 'person', 'person', ['Who is married to {}?', 'Who is the spouse of {}?']],
  ['capital', 'land', 'town', ['What is the capital of {}?', 'Which town heads {}?']],
  ['ruler', 'land', 'person', ['Who is the ruler of {}?', 'Who rules over {}?']],
  ['age', 'land', 'number', ['What is the age of {}?', 'How many years old is {}?']],
  ['captain', 'ship', 'person', ['Who is the captain of {}?', 'Who commands {}?']],
  ['haven', 'ship', 'town', ['What is the haven of {}?', 'Where does {} drop anchor?']],
  ['builder', 'ship', 'person', ['Who is the builder of {}?', 'Who built {}?']],
];

export const relations = table.map(([name, of, value, wordings]): Relation => ({
  name,
  of,
  value,
  wordings,
}));

export const relationsOf = (type: EntityType): readonly Relation[] =>
  relations.filter(({ of }) => of === type);
