import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/** Who uses a name. No two share one. */
export type Owner = 'warmUp' | 'train' | 'eval';

const combine = (...parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>(
    (texts, part) => texts.flatMap((text) => part.map((end) => text + end)),
    [''],
  );

const letters = (text: string): string[] => text.split('');

/** Names of things, in two parts, such as Velmora. */
const things = combine(
  combine(letters('BDFGHJKLMNPRSTVW'), letters('aeio'), letters('lnr')),
  combine(letters('bdfgklmnprstvz'), ['ana', 'eno', 'iko']),
);

/** Names of relations, in two parts, such as zof: unlike any word that a program or a message has, and no name of Python's. */
const relations = combine(letters('jqvxz'), letters('aeiou'), letters('bdfgkmnprstvz')).filter(
  (name) => name !== 'zip',
);

/** Cuts a list, in an order of its own, into a share for each owner: half, 3 tenths and 2 tenths. */
function shared(names: readonly string[], kind: string): Record<Owner, readonly string[]> {
  const order = new KeyedRng('workspace names', kind).shuffle(names);
  const [first, second] = [Math.floor(order.length * 0.5), Math.floor(order.length * 0.8)];
  return {
    warmUp: order.slice(0, first),
    train: order.slice(first, second),
    eval: order.slice(second),
  };
}

export const thingsOf = shared(things, 'things');
export const relationsOf = shared(relations, 'relations');

/**
 * What a tokenizer keeps apart, as a regular expression: the first part of each name, written either way, so that every name
 * can be copied.
 */
export const namePieces = [
  String.raw`[A-Z][aeio][lnr](?=[a-z])`,
  String.raw`[a-z][aeio][lnr](?=[a-z](?:ana|eno|iko))`,
  '(?<![a-z])[jqvxz][aeiou](?=[bdfgkmnprstvz](?![a-z]))',
].join('|');

/** Different ones of the names, in an order of their own. */
export function pickNames(names: readonly string[], count: number, rng: KeyedRng): string[] {
  const picked = new Set<string>();
  while (picked.size < count) picked.add(rng.pick(names));
  return [...picked];
}
