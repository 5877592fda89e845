import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { EntityType } from './relations.ts';

/** A fact as a document states it. */
export interface StatedFact {
  relation: string;
  value: string;
  /** Whether it held before and does no longer. */
  earlier: boolean;
}

/** What a document is about, and what it states of it, in this order. */
export interface Subject {
  title: string;
  type: EntityType;
  facts: readonly StatedFact[];
}

/** How the thing that a fact is of is named beside it; `{}` is the thing, `@` the relation. */
const mentions = ['@', 'the {} @', 'the @ of {}', 'the @', "{}'s @"] as const;

/** How a relation, `@`, and its value, `=`, are joined: either may come first. */
const links = [
  '@ =',
  '@ is =',
  '@: =',
  '@ -> =',
  '@, namely =',
  '= is @',
  '=, @',
  '= as @',
  '=: @',
  '= serves as @',
] as const;

const openings = ['A #: ', 'This is {}, a #: ', 'Of the # {}: ', 'Known of {}: '] as const;

const separators = ['; ', ' | ', ' / ', ' * '] as const;

/** How a single fact is worded. */
export interface Wording {
  mention: (typeof mentions)[number];
  link: (typeof links)[number];
}

/** How a document states facts. */
export interface DocumentForm extends Wording {
  opening: (typeof openings)[number];
  separator: (typeof separators)[number];
}

/** `the Velmora mayor is Tamlina` as a pattern. */
export const wordingName = ({ mention, link }: Wording): string => link.replace('@', mention);

const wordings = mentions.flatMap((mention) => links.map((link): Wording => ({ mention, link })));

/** Each link with one mention, each mention with two links. */
const isUnseen = ({ mention, link }: Wording): boolean =>
  links.indexOf(link) % mentions.length === mentions.indexOf(mention);

/** Neither training nor the warm-up shows these; their mentions and their links they do, each with others. */
export const unseenWordings: readonly Wording[] = wordings.filter(isUnseen);

export const trainedWordings: readonly Wording[] = wordings.filter((one) => !isUnseen(one));

/** One of the wordings with any opening and any separator. */
export const drawForm = (from: readonly Wording[], rng: KeyedRng): DocumentForm => ({
  ...rng.pick(from),
  opening: rng.pick(openings),
  separator: rng.pick(separators),
});

/** The text of a document, and for each fact, in order, where in the text its statement ends. */
export function documentText(
  { title, type, facts }: Subject,
  form: DocumentForm,
): { text: string; ends: readonly number[] } {
  const { opening, separator } = form;
  const ends: number[] = [];
  let text = opening.replace('#', type).replace('{}', title);
  for (const [index, fact] of facts.entries()) {
    text += `${index === 0 ? '' : separator}${factText(title, fact, form)}`;
    ends.push(text.length);
  }
  return { text: `${text}.`, ends };
}

function factText(title: string, fact: StatedFact, { mention, link }: Wording): string {
  const named = mention.replace('@', fact.earlier ? `former ${fact.relation}` : fact.relation);
  return link.replace('@', named.replace('{}', title)).replace('=', fact.value);
}
