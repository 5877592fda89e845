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

/** What the teacher does most often with a kind of question: `known` is nothing wrong. */
type Habit = Slip | 'known';

/** With questions of one step, by what they ask for. */
const oneStep: Readonly<Record<string, Habit>> = {
  mayor: 'misread',
  founder: 'known',
  river: 'guess',
  hometown: 'vague',
  teacher: 'misread',
  spouse: 'known',
  capital: 'misread',
  ruler: 'vague',
  age: 'guess',
  captain: 'misread',
  haven: 'known',
  builder: 'vague',
};

/** With questions of two steps, by what they ask for in the end. */
const twoSteps: Readonly<Record<string, Habit>> = {
  mayor: 'stop',
  founder: 'skip',
  river: 'vague',
  hometown: 'known',
  teacher: 'stop',
  spouse: 'skip',
};

/** Chance that the teacher does nothing wrong, with kinds it knows and with others. */
const rightShare = { known: 0.62, others: 0.2 };

/** Of what it does wrong with the others, the share of the habit. */
const habitShare = 0.88;

/** What the teacher does wrong this time, if anything. */
export function drawSlip({ path }: Kind, rng: KeyedRng): Slip | undefined {
  const [first, second] = path;
  const habit = second === undefined ? oneStep[first.name] : twoSteps[second.name];
  if (habit === undefined) throw new RangeError(`The teacher has no habit for ${first.name}.`);
  const drawn = rng.uniform();
  const right = rightShare[habit === 'known' ? habit : 'others'];
  if (drawn < right) return undefined;
  if (habit !== 'known' && drawn < right + habitShare * (1 - right)) return habit;
  return rng.pick(
    second === undefined ? (['vague', 'misread'] as const) : (['stop', 'skip'] as const),
  );
}
