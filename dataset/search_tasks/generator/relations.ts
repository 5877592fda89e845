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

const relation = (
  name: string,
  of: EntityType,
  value: Relation['value'],
  wordings: readonly string[],
): Relation => ({ name, of, value, wordings });

export const relations: readonly Relation[] = [
  relation('mayor', 'town', 'person', ['Who is the mayor of {}?', 'Who governs {}?']),
  relation('founder', 'town', 'person', ['Who is the founder of {}?', 'Who founded {}?']),
  relation('river', 'town', 'name', ['Which river runs through {}?', 'What is the river of {}?']),
  relation('hometown', 'person', 'town', ['Where is {} from?', 'What is the hometown of {}?']),
  relation('teacher', 'person', 'person', ['Who taught {}?', 'Who is the teacher of {}?']),
  relation('spouse', 'person', 'person', ['Who is married to {}?', 'Who is the spouse of {}?']),
  relation('capital', 'land', 'town', ['What is the capital of {}?', 'Which town heads {}?']),
  relation('ruler', 'land', 'person', ['Who is the ruler of {}?', 'Who rules over {}?']),
  relation('age', 'land', 'number', ['What is the age of {}?', 'How many years old is {}?']),
  relation('captain', 'ship', 'person', ['Who is the captain of {}?', 'Who commands {}?']),
  relation('haven', 'ship', 'town', ['What is the haven of {}?', 'Where does {} drop anchor?']),
  relation('builder', 'ship', 'person', ['Who is the builder of {}?', 'Who built {}?']),
];

export const relationsOf = (type: EntityType): readonly Relation[] =>
  relations.filter(({ of }) => of === type);
