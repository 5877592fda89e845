import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import type { ParameterKind, Scalar } from './atom.ts';
import type { Family } from './families.ts';
import { commonLetters } from './words.ts';

export type Split = 'train' | 'eval';

/** Share of each trained family's parameter values that only the evaluation split uses. */
const evalShare = 0.25;

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
 * The parameter values a split may use. The two parts of a trained family never meet, whatever the seed of the
 * tasks; a held-out family has no train part.
 */
export function parametersOf(family: Family, split: Split): readonly Parameters[] {
  const all = new KeyedRng('code-tasks', 'parameters', family.name).shuffle(allParameters(family));
  if (family.heldOut) return split === 'eval' ? all : [];
  const evalCount = Math.max(1, Math.round(all.length * evalShare));
  return split === 'eval' ? all.slice(0, evalCount) : all.slice(evalCount);
}

/** What two tasks share when only their words and numbers differ. */
export const signatureOf = (family: Family, parameters: Parameters): string =>
  `${family.name}(${parameters.filter((k) => k !== undefined).join(', ')})`;
