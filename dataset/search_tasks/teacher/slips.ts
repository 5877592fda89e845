import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Question } from '../generator/question.ts';

/**
 * What the teacher habitually does wrong.
 *
 * - `guess`: answers without a search.
 * - `vague`: the last query says what is wanted and of what kind of thing, and leaves the name out.
 * - `misread`: reads another fact of the right document.
 * - `stop`: answers with what the first of two steps led to.
 * - `skip`: looks the second fact up of the thing that the question names.
 * - `mistake`: reads the former fact of the right document, or the fact of the namesake.
 * - `give up`: says that what is asked for is not stated, although it is.
 */
export type Slip = 'guess' | 'vague' | 'misread' | 'stop' | 'skip' | 'mistake' | 'give up';

/** What the teacher does most often with a kind of question: `known` is nothing wrong. */
type Habit = Exclude<Slip, 'mistake' | 'give up'> | 'known';

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
const rightShare = { known: 0.7, others: 0.25 };

/** Of what it does wrong with the others, the share of the habit. */
const habitShare = 0.88;

/** How often the teacher takes what may be mistaken for the answer, where there is such a thing, and gives up where there is an answer. */
const mistakeShare = 0.35;
const giveUpShare = 0.08;

/** Chance that it says so when the answer is stated nowhere. */
const rightlyAbsentShare = 0.35;

/** What the teacher does wrong this time, if anything. */
export function drawSlip(question: Question, rng: KeyedRng): Slip | undefined {
  const mistakable = isMistakable(question);
  if (question.absent) {
    if (rng.uniform() < rightlyAbsentShare) return undefined;
    if (mistakable && rng.uniform() < 0.5) return 'mistake';
    const others = ['misread', 'misread', 'vague', 'guess'] as const;
    return rng.pick(question.steps.length === 1 ? others : ([...others, 'stop', 'skip'] as const));
  }
  if (mistakable && rng.child('mistake').uniform() < mistakeShare) return 'mistake';
  if (rng.child('give up').uniform() < giveUpShare) return 'give up';
  return drawHabit(question, rng);
}

/** Whether the last fact has a former one beside it, or its thing a namesake. */
function isMistakable({ steps }: Question): boolean {
  const last = steps.at(-1);
  if (last === undefined) return false;
  const { entity, relation } = last;
  return (entity.documented && entity.earlier.has(relation)) || entity.namesake !== undefined;
}

function drawHabit({ kind: { path } }: Question, rng: KeyedRng): Slip | undefined {
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
