import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Kind } from './kinds.ts';
import type { Entity, World } from './world.ts';

/** A question of a world, and the way to its answer. */
export interface Question {
  kind: Kind;
  text: string;
  /** What each step looks up: of `entity` the `relation`, which is `value`. */
  steps: readonly Step[];
  answer: string;
}

export interface Step {
  entity: Entity;
  relation: string;
  value: string;
}

/** The question of a kind about an entity, in one of its wordings. */
export function askAbout(world: World, kind: Kind, subject: Entity, rng: KeyedRng): Question {
  const steps: Step[] = [];
  let entity = subject;
  for (const { name: relation } of kind.path) {
    const value = factOf(entity, relation);
    steps.push({ entity, relation, value });
    entity = world.byName.get(value) ?? entity;
  }
  const [first, second] = kind.path;
  const asked = second ?? first;
  const about = second === undefined ? subject.name : `the ${first.name} of ${subject.name}`;
  return {
    kind,
    text: rng.pick(asked.wordings).replace('{}', about),
    steps,
    answer: steps.at(-1)?.value ?? '',
  };
}

/** @throws RangeError when entities of this type have no such fact. */
function factOf({ name, facts }: Entity, relation: string): string {
  const value = facts.get(relation);
  if (value === undefined) throw new RangeError(`${name} has no ${relation}.`);
  return value;
}

/** Whether nothing occurs twice on the way: otherwise the answer could be found without the last step. */
export const isFair = ({ steps }: Question): boolean => {
  const met = [steps[0]?.entity.name, ...steps.map(({ value }) => value)];
  return new Set(met).size === met.length;
};
