import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import type { ParameterKind, Scalar } from './atom.ts';
import type { Family } from './families.ts';
import { commonLetters } from './words.ts';

/** Parameter values that are trained on, and those that never are. */
export type ParameterPart = 'trained' | 'unseen';

/** Share of each trained family's parameter values that are never trained on. */
const unseenShare = 0.25;

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const values: Readonly<Record<ParameterKind, readonly Scalar[]>> = {
  digit: range(2, 9),
  few: range(2, 4),
  size: range(3, 5),
  letter: commonLetters,
};

/** Parameters of a family's steps in order; absent for a step without. */
export type Parameters = readonly (Scalar | undefined)[];

function allParameters(family: Family): Parameters[] {
  return family.steps.reduce<(Scalar | undefined)[][]>(
    (lists, { atom }) => {
      const choices = atom.parameter === undefined ? [undefined] : values[atom.parameter];
      return lists.flatMap((list) => choices.map((k) => list.concat([k])));
    },
    [[]],
  );
}

/**
 * The parameter values of one part. The two parts of a trained family never meet, whatever the seed of the tasks; all
 * of a held-out family's are unseen.
 */
export function parametersOf(family: Family, part: ParameterPart): readonly Parameters[] {
  const all = new KeyedRng('code-tasks', 'parameters', family.name).shuffle(allParameters(family));
  if (family.heldOut) return part === 'unseen' ? all : [];
  const unseenCount = Math.max(1, Math.round(all.length * unseenShare));
  return part === 'unseen' ? all.slice(0, unseenCount) : all.slice(unseenCount);
}

/** What two tasks share when only their words and numbers differ. */
export const signatureOf = (family: Family, parameters: Parameters): string =>
  `${family.name}(${parameters.filter((k) => k !== undefined).join(', ')})`;
