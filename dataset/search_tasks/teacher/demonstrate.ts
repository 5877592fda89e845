import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { absentAnswer, type Question } from '../generator/question.ts';
import type { WrittenDocument } from '../generator/world.ts';
import { drawPlan, type Goal, type Plan } from './plan.ts';

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
 * Each thought ends with what is left to do, `so Velmora mayor teacher .`, in words that stand before it: the query is its first
 * two. What was found is read along, word for word, as far as the fact: at each title the teacher says `no` or goes on, and
 * where the fact has not come when the passage ends, it says `so not stated .`
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
    const id = `call_${turn}_0`;
    messages.push(
      {
        role: 'assistant',
        content: '',
        reasoning: thought,
        toolCalls: [{ id, name: 'search', arguments: { query } }],
      },
      { role: 'tool', name: 'search', callId: id, content: render(found) },
    );
    const { quotes, value } = read(found, goal, plan);
    goal = {
      thing: value ?? absentAnswer,
      relations: value === undefined ? [] : goal.relations.slice(1),
    };
    thought = `${quotes.join(' ')} so ${sayGoal(goal)}`;
  }
  messages.push({ role: 'assistant', content: `It is ${goal.thing}.`, reasoning: thought });
  return { messages, correct: goal.thing === question.answer };
}

/** `Velmora mayor teacher .`: a thing, and the relations that are still to be followed from it. */
const sayGoal = ({ thing, relations }: Goal): string => [thing, ...relations, '.'].join(' ');

/** Reads along what was found, and says what the goal's first relation leads to, if that is stated. */
function read(
  found: readonly WrittenDocument[],
  { thing, relations }: Goal,
  { takesNamesake, takesFormer, takesLast }: Plan,
): { quotes: readonly string[]; value: string | undefined } {
  const quotes: string[] = [];
  for (const [at, { title, type, text, stated }] of found.entries()) {
    const head = `[${at + 1}] ${title}`;
    const isIt = title === thing || type === thing;
    if (!isIt && !(takesNamesake && title.endsWith(` ${thing}`))) {
      quotes.push(`${head} no`);
      continue;
    }
    const fact = stated.find(
      ({ relation, earlier }) => relation === relations[0] && (takesFormer || !earlier),
    );
    quotes.push(`${head}\n${text.slice(0, fact?.end)}`);
    return { quotes, value: (fact ?? (takesLast ? stated.at(-1) : undefined))?.value };
  }
  return { quotes, value: undefined };
}
