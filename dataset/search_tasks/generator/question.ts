import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Kind } from './kinds.ts';
import type { Entity, World } from './world.ts';

/** What is said of a fact that no document states. */
export const absentAnswer = 'not stated';

/** A question of a world, and the way to its answer. */
export interface Question {
  kind: Kind;
  text: string;
  /** What each step looks up: of `entity` the `relation`. The way ends where a value is stated nowhere. */
  steps: readonly Step[];
  /** `absentAnswer` where a step has no value. */
  answer: string;
  /** Whether the answer is stated nowhere. */
  absent: boolean;
}

export interface Step {
  entity: Entity;
  relation: string;
  /** Absent when no document states it. */
  value: string | undefined;
}

/** The question of a kind about an entity, in one of its wordings. */
export function askAbout(world: World, kind: Kind, subject: Entity, rng: KeyedRng): Question {
  const steps = stepsOf(world, kind, subject);
  const [first, second] = kind.path;
  const asked = second ?? first;
  const about = second === undefined ? subject.name : `the ${first.name} of ${subject.name}`;
  const answer = steps.at(-1)?.value;
  return {
    kind,
    text: rng.pick(asked.wordings).replace('{}', about),
    steps,
    answer: answer ?? absentAnswer,
    absent: answer === undefined,
  };
}

function stepsOf(world: World, { path }: Kind, subject: Entity): Step[] {
  const steps: Step[] = [];
  let entity: Entity | undefined = subject;
  for (const { name: relation } of path) {
    if (entity === undefined) break;
    const value: string | undefined = entity.documented ? entity.facts.get(relation) : undefined;
    steps.push({ entity, relation, value });
    entity = value === undefined ? undefined : world.byName.get(value);
  }
  return steps;
}

/** Whether nothing occurs twice on the way: otherwise the answer could be found without the last step. */
export const isFair = ({ steps }: Question): boolean => {
  const met = [steps[0]?.entity.name, ...steps.map(({ value }) => value)];
  return new Set(met).size === met.length;
};

/** What on the way of a question is easily taken for something else. */
export function distractorsOf({ steps }: Question): string[] {
  const former = steps.some(({ entity, relation }) => entity.earlier.has(relation));
  const namesake = steps.some(({ entity }) => entity.namesake !== undefined);
  return [...(former ? ['former'] : []), ...(namesake ? ['namesake'] : [])];
}
