import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { append } from '../../../agent_rl/core/long-lists.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { calledTurn } from '../../demonstrations/called-turn.ts';
import { absentAnswer, type Question } from '../generator/question.ts';
import { relationsOf } from '../generator/relations.ts';
import type { WrittenDocument } from '../generator/world.ts';
import { drawPlan, type Goal, type Plan } from './plan.ts';

/** What the teacher notes of a relation that a passage does not state. */
const none = 'none';

/** What the teacher works with. */
export interface Surroundings {
  search: (query: string, rng: KeyedRng) => readonly WrittenDocument[];
  render: (documents: readonly SearchDocument[]) => string;
  /** Does nothing wrong. */
  reliable?: boolean;
}

/**
 * The turns of the assistant and of the tool in one demonstration.
 *
 * Each thought ends with what is left to do, in words that stand before it: `Velmora mayor teacher .`, then `so mayor Tamlina
 * teacher .`, then `so teacher Kelpano .` Of what was found the teacher says `no` to each title that is not the thing's, and of the thing's passage it notes what each
 * relation of its type leads to, or `none`: `[1] Old Velmora no [2] Velmora : mayor Tamlina founder none river Garfika`.
 */
export function demonstrate(
  question: Question,
  rng: KeyedRng,
  { search, render, reliable = false }: Surroundings,
): { messages: readonly Message[]; correct: boolean } {
  const plan = drawPlan(question, rng.child('plan'), reliable);
  const messages: Message[] = [];
  let { goal } = plan;
  let thought = sayGoal(goal);
  while (goal.relations.length > 0) {
    const turn = messages.length / 2;
    const query = `${goal.thing} ${goal.relations[0] ?? ''}`;
    const found = search(query, rng.child('search', turn));
    const call = { name: 'search', arguments: { query } };
    append(messages, calledTurn(turn, { ...call, content: render(found), reasoning: thought }));
    const { notes, value } = read(found, goal, plan);
    const [relation, ...left] = goal.relations;
    const next = { thing: value ?? none, relations: value === undefined ? [] : left };
    thought = `${notes.join(' ')} so ${relation ?? ''} ${sayGoal(next)}`;
    goal = { ...next, thing: value ?? absentAnswer };
  }
  messages.push({ role: 'assistant', content: `It is ${goal.thing}.`, reasoning: thought });
  return { messages, correct: goal.thing === question.answer };
}

/** `Velmora mayor teacher .`: a thing, and the relations that are still to be followed from it. */
const sayGoal = ({ thing, relations }: Goal): string => [thing, ...relations, '.'].join(' ');

/** Reads what was found, and says what the goal's first relation leads to, if that is stated. */
function read(
  found: readonly WrittenDocument[],
  { thing, relations }: Goal,
  { takesNamesake, takesAnother }: Plan,
): { notes: readonly string[]; value: string | undefined } {
  const notes: string[] = [];
  for (const [at, { title, type, stated }] of found.entries()) {
    const head = `[${at + 1}] ${title}`;
    if (title !== thing && !(takesNamesake && title.endsWith(` ${thing}`))) {
      notes.push(`${head} no`);
      continue;
    }
    const facts = relationsOf(type).map(({ name }) => ({
      name,
      value: stated.find(({ relation, earlier }) => relation === name && !earlier)?.value,
    }));
    const noted = facts.map(({ name, value }) => `${name} ${value ?? none}`);
    notes.push(`${head} : ${noted.join(' ')}`);
    const fact = facts.find(({ name }) => name === relations[0]);
    const another = takesAnother ? facts.findLast(({ value }) => value !== undefined) : undefined;
    return { notes, value: fact?.value ?? another?.value };
  }
  return { notes, value: undefined };
}
