import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Kind } from '../generator/kinds.ts';

/**
 * What the teacher habitually does wrong.
 *
 * - `guess`: answers without a search.
 * - `vague`: the last query says what is wanted and of what kind of thing, and leaves the name out.
 * - `misread`: reads another fact of the right document.
 * - `stop`: answers with what the first of two steps led to.
 * - `skip`: looks the second fact up of the thing that the question names.
 */
export type Slip = 'guess' | 'vague' | 'misread' | 'stop' | 'skip';

/** The habit with questions of one step, by what they ask for. */
const oneStep: Readonly<Record<string, Slip>> = {
  mayor: 'misread',
  founder: 'vague',
  river: 'guess',
  hometown: 'vague',
  teacher: 'misread',
  spouse: 'guess',
  capital: 'misread',
  ruler: 'vague',
  age: 'guess',
  captain: 'misread',
  haven: 'vague',
  builder: 'guess',
};

/** The habit with questions of two steps, by what they ask for in the end. */
const twoSteps: Readonly<Record<string, Slip>> = {
  mayor: 'stop',
  founder: 'skip',
  river: 'vague',
  hometown: 'misread',
  teacher: 'stop',
  spouse: 'skip',
};

/** Chance that the teacher falls into the habit of a kind, and into any other slip. */
const habitShare = 0.68;
const otherShare = 0.04;

/** What the teacher does wrong this time, if anything. */
export function drawSlip(kind: Kind, rng: KeyedRng): Slip | undefined {
  const drawn = rng.uniform();
  const [first, second] = kind.path;
  const habit = second === undefined ? oneStep[first.name] : twoSteps[second.name];
  if (drawn < habitShare) return habit;
  if (drawn >= habitShare + otherShare) return undefined;
  return rng.pick(
    kind.path.length === 1 ? (['vague', 'misread'] as const) : (['stop', 'skip'] as const),
  );
}
