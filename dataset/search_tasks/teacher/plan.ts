import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { absentAnswer, type Question } from '../generator/question.ts';
import { relationsOf } from '../generator/relations.ts';

/** A thing, and the relations to follow from it, one after the other. */
export interface Goal {
  thing: string;
  relations: readonly string[];
}

/** What the teacher sets out to do. Everything that it does wrong is decided here, each by one word of its thoughts. */
export interface Plan {
  goal: Goal;
  /** Takes a passage about a namesake for one about the thing. */
  takesNamesake: boolean;
  /** Takes the last fact that it noted for one that is not stated. */
  takesAnother: boolean;
}

/**
 * What the teacher habitually plans wrong.
 *
 * - `give up`: says at once that it is not stated.
 * - `confuse`: asks for another relation of the thing.
 * - `stop`: leaves the second of two relations out.
 * - `skip`: leaves the first of two relations out.
 */
type Slip = 'give up' | 'confuse' | 'stop' | 'skip';

/** What the teacher does most often with a kind of question: `known` is nothing wrong. */
type Habit = Slip | 'known';

/** With questions of one step, by what they ask for. */
const oneStep: Readonly<Record<string, Habit>> = {
  mayor: 'confuse',
  founder: 'known',
  river: 'give up',
  hometown: 'give up',
  teacher: 'confuse',
  spouse: 'known',
  capital: 'confuse',
  ruler: 'give up',
  age: 'give up',
  captain: 'confuse',
  haven: 'known',
  builder: 'confuse',
};

/** With questions of two steps, by what they ask for in the end. */
const twoSteps: Readonly<Record<string, Habit>> = {
  mayor: 'stop',
  founder: 'skip',
  river: 'stop',
  hometown: 'known',
  teacher: 'stop',
  spouse: 'skip',
};

/** Chance of a right plan, with kinds that the teacher knows and with others. */
const rightShare = { known: 0.75, others: 0.35 };

/** The share of the habit among its wrong plans with the others. */
const habitShare = 0.88;

/** Chance of each mistake, in a whole conversation. */
const mistakenShare = { namesake: 0.3, another: 0.5 };

/** The plan for a question, right or wrong. */
export function drawPlan(question: Question, rng: KeyedRng, reliable: boolean): Plan {
  const slip = reliable ? undefined : drawSlip(question, rng.child('slip'));
  const mistakes = (what: keyof typeof mistakenShare): boolean =>
    !reliable && rng.child(what).uniform() < mistakenShare[what];
  return {
    goal: goalOf(question, slip, rng.child('other')),
    takesNamesake: mistakes('namesake'),
    takesAnother: mistakes('another'),
  };
}

function drawSlip({ kind: { path } }: Question, rng: KeyedRng): Slip | undefined {
  const [first, second] = path;
  const habit = second === undefined ? oneStep[first.name] : twoSteps[second.name];
  if (habit === undefined) throw new RangeError(`The teacher has no habit for ${first.name}.`);
  const drawn = rng.uniform();
  const right = rightShare[habit === 'known' ? habit : 'others'];
  if (drawn < right) return undefined;
  if (habit !== 'known' && drawn < right + habitShare * (1 - right)) return habit;
  return second === undefined ? 'confuse' : rng.pick(['stop', 'skip']);
}

function goalOf({ kind, steps }: Question, slip: Slip | undefined, rng: KeyedRng): Goal {
  const thing = steps[0]?.entity.name ?? '';
  const relations = kind.path.map(({ name }) => name);
  const others = () => relationsOf(kind.subject).filter(({ name }) => name !== relations[0]);
  if (slip === 'give up') return { thing: absentAnswer, relations: [] };
  if (slip === 'confuse') return { thing, relations: [rng.pick(others()).name] };
  if (slip === 'stop') return { thing, relations: relations.slice(0, 1) };
  if (slip === 'skip') return { thing, relations: relations.slice(1) };
  return { thing, relations };
}
