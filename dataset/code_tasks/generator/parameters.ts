import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import type { ParameterKind, Scalar } from './atom.ts';
import type { Family } from './families.ts';
import { commonLetters } from './words.ts';

/** Parameter values that are trained on, and those that never are. */
export type ParameterPart = 'trained' | 'unseen';

/** Share of each trained family's parameter values that are never trained on. */
const unseenShare = 0.25;

const values: Readonly<Record<ParameterKind, readonly Scalar[]>> = {
  digit: [2, 3, 4, 5, 6, 7, 8, 9],
  few: [2, 3, 4],
  size: [3, 4, 5],
  letter: commonLetters,
};

/** Parameters of a family's steps in order; absent for a step without. */
export type Parameters = readonly (Scalar | undefined)[];

/** Every way to take one item of each list; the first list's items change slowest. */
export const combinations = <Item>(lists: readonly (readonly Item[])[]): Item[][] =>
  lists.reduce<Item[][]>(
    (all, list) => all.flatMap((one) => list.map((item) => one.concat([item]))),
    [[]],
  );

/**
 * The parameter values of one part. The two parts of a trained family never meet, whatever the seed of the tasks; all
 * of a held-out family's are unseen.
 */
export function parametersOf(family: Family, part: ParameterPart): readonly Parameters[] {
  const choices = family.steps.map(({ atom: { parameter } }): Parameters =>
    parameter === undefined ? [undefined] : values[parameter],
  );
  const rng = new KeyedRng('code-tasks', 'parameters', family.name);
  const all = rng.shuffle(combinations(choices));
  if (family.heldOut) return part === 'unseen' ? all : [];
  const unseenCount = Math.max(1, Math.round(all.length * unseenShare));
  return part === 'unseen' ? all.slice(0, unseenCount) : all.slice(unseenCount);
}

/** What two tasks share when only their words and numbers differ. */
export const signatureOf = (family: Family, parameters: Parameters): string =>
  `${family.name}(${parameters.filter((k) => k !== undefined).join(', ')})`;
