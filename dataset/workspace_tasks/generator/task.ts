import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Forms, formsName, trainedForms } from './form.ts';
import type { Owner } from './names.ts';
import { makeWorld, otherValues, type Relation, setupOf, walk, type World } from './world.ts';

/** A question about a world, and that world. */
export interface WorkspaceQuestion {
  world: World;
  /** What is asked about. */
  start: string;
  /** The relations to follow from there. */
  chain: readonly Relation[];
  answer: string;
  setup: string;
  /** A world of the same names and forms in which the answer differs. */
  other: { setup: string; answer: string };
}

/** A line of a data set of workspace questions, for `environment: {type: workspace}`. */
export interface WorkspaceRow {
  task_id: string;
  question: string;
  answer: string;
  setup: string;
  other: { setup: string; answer: string };
  depth: number;
  /** The forms in order: results are clustered by them. */
  family: string;
  /** What the task is reported under, apart from the totals. */
  slice?: string;
}

/** What is still to be found, in words: `the zof of the kel of Velmora`. */
export const phrase = (thing: string, relations: readonly Pick<Relation, 'name'>[]): string =>
  relations.reduce((text, { name }) => `the ${name} of ${text}`, thing);

/** A question that no shorter chain, no other relation and no single look-up answers, with a world drawn for it. */
export function drawQuestion(forms: Forms, owner: Owner, rng: KeyedRng): WorkspaceQuestion {
  for (let draw = 0; ; draw++) {
    const drawn = rng.child('draw', draw);
    const world = makeWorld(forms, owner, trainedForms, drawn.child('world'));
    const start = drawn.child('start').pick(world.things);
    const chain = world.relations.slice(0, forms.length);
    const answer = walk(start, chain).at(-1) ?? '';
    const lie = otherValues(world, drawn.child('other'));
    const lieAnswer = walk(start, lie.relations.slice(0, forms.length)).at(-1) ?? '';
    if (shortCuts(start, chain, world).has(answer) || lieAnswer === answer) continue;
    const order = drawn.child('order');
    return {
      world,
      start,
      chain,
      answer,
      setup: setupOf(world, order),
      other: { setup: setupOf(lie, order.child('other')), answer: lieAnswer },
    };
  }
}

/**
 * What one comes to who does less or something else: who leaves relations of the chain out, who follows one that is not
 * asked about, who follows the chain backwards.
 */
export function shortCuts(
  start: string,
  chain: readonly Relation[],
  { relations }: World,
): Set<string> {
  const ends = relations
    .filter((relation) => !chain.includes(relation))
    .map((relation) => walk(start, [relation]));
  for (let kept = 0; kept < 2 ** chain.length - 1; kept++) {
    const part = chain.filter((_, at) => ((kept >> at) & 1) === 1);
    ends.push(walk(start, part));
  }
  if (chain.length > 1) ends.push(walk(start, chain.toReversed()));
  return new Set(ends.map((met) => met.at(-1) ?? ''));
}

export function rowOf(
  { start, chain, answer, setup, other }: WorkspaceQuestion,
  { id, slice }: { id: string; slice?: string },
): WorkspaceRow {
  return {
    task_id: id,
    question: `What is ${phrase(start, chain)} ?`,
    answer,
    setup,
    other,
    depth: chain.length,
    family: formsName(chain.map(({ form }) => form)),
    ...(slice !== undefined && { slice }),
  };
}
