import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';

import { type Family, trainFamilies } from '../code_tasks/generator/families.ts';
import { type Choice, partsOf } from '../code_tasks/generator/program.ts';

/** The share of the first of an atom's slips; the others share the rest evenly. */
const mainHabit = 0.79;

/**
 * The teacher knows every nth family: there the likeliest program is the right one. Without such families the most
 * likely program would be wrong everywhere, and any drift of the weights, learned or not, would count as a gain.
 */
const knownEvery = 4;
/** How often a part is right: an easy one, and a tricky one in families the teacher knows and in the others. */
const rightShare = { easy: 0.97, known: 0.62, others: 0.22 };

const isKnown = (family: Family): boolean => trainFamilies.indexOf(family) % knownEvery === 2;

/** The variants the teacher writes a program in: each part is right or slips, independently of the others. */
export function drawSlips(family: Family, rng: KeyedRng): Choice {
  const trickyShare = isKnown(family) ? rightShare.known : rightShare.others;
  return partsOf(family).map(({ tricky, ways }) => {
    const slips = ways - 1;
    if (slips === 0 || rng.uniform() < (tricky ? trickyShare : rightShare.easy)) return 0;
    return slips === 1 || rng.uniform() < mainHabit ? 1 : 2 + rng.integer(slips - 1);
  });
}
