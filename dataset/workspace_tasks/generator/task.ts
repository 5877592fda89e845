import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Owner } from './names.ts';
import { formOf, misreadings, phraseOf, type Step, type StepForm, stepsName } from './step.ts';
import { makeWorld, otherValues, setupOf, walk, type World } from './world.ts';

/** A question about a world, and that world. */
export interface WorkspaceQuestion {
  world: World;
  /** What is asked about. A question that begins with a table does not name it. */
  start: string;
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
  /** The steps' forms in order: results are clustered by them. */
  family: string;
  /** What the task is reported under, apart from the totals. */
  slice?: string | undefined;
}

/** What is to be found, in words: `the zof of the kel of Velmora`. */
export const phrase = (start: string, steps: readonly Step[]): string =>
  steps.reduce((inner, step) => phraseOf(step, inner), start);

/** A question that no shorter chain, no other relation and no other reading of a table answers, with a world drawn for it. */
export function drawQuestion(
  forms: readonly StepForm[],
  owner: Owner,
  rng: KeyedRng,
): WorkspaceQuestion {
  for (let draw = 0; ; draw++) {
    const drawn = rng.child('draw', draw);
    const world = makeWorld(forms, owner, drawn.child('world'));
    const start = drawn.child('start').pick(world.things);
    const answer = walk(start, world.chain).at(-1) ?? '';
    const lie = otherValues(world, drawn.child('other'));
    const lieAnswer = walk(start, lie.chain).at(-1) ?? '';
    if (shortCuts(start, world).has(answer) || lieAnswer === answer) continue;
    const order = drawn.child('order');
    return {
      world,
      start,
      answer,
      setup: setupOf(world, order),
      other: { setup: setupOf(lie, order.child('other')), answer: lieAnswer },
    };
  }
}

/**
 * What one comes to who does less or something else: who leaves steps of the chain out, who follows a relation that is not
 * asked about, who follows the chain backwards, who reads a table otherwise.
 */
export function shortCuts(start: string, { chain, spare }: World): Set<string> {
  const ends = spare.map((relation) => walk(start, [relation]));
  for (let kept = 0; kept < 2 ** chain.length - 1; kept++) {
    const part = chain.filter((_, at) => ((kept >> at) & 1) === 1);
    ends.push(walk(start, part));
  }
  if (chain.length > 1 && chain.every(({ kind }) => kind === 'relation'))
    ends.push(walk(start, chain.toReversed()));
  const way = walk(start, chain);
  const misread = chain.flatMap((step, at) =>
    misreadings(step, way[at] ?? '').map((value) => walk(value, chain.slice(at + 1))),
  );
  return new Set([...ends, ...misread].map((met) => met.at(-1) ?? ''));
}

export function rowOf(
  { start, world, answer, setup, other }: WorkspaceQuestion,
  { id, slice }: { id: string; slice?: string | undefined },
): WorkspaceRow {
  return {
    task_id: id,
    question: `What is ${phrase(start, world.chain)} ?`,
    answer,
    setup,
    other,
    depth: world.chain.length,
    family: stepsName(world.chain.map(formOf)),
    slice,
  };
}
