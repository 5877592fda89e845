import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';

import type { Family } from '../code_tasks/generator/families.ts';
import { type Choice, partsOf } from '../code_tasks/generator/program.ts';

/** Of the wrong variants of an atom, the share of the first; the others split what is left evenly. */
const mainHabit = 0.79;

/** The variants the teacher writes a program in: each part is right or slips, independently of the others. */
export const drawSlips = (family: Family, rng: KeyedRng): Choice =>
  partsOf(family).map(({ rightShare, wrong }) => {
    if (wrong.length === 0 || rng.uniform() < rightShare) return 0;
    return wrong.length === 1 || rng.uniform() < mainHabit ? 1 : 2 + rng.integer(wrong.length - 1);
  });
