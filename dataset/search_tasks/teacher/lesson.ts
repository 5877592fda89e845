import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Message, user } from '../../../agent_rl/core/message.ts';
import { absentAnswer } from '../generator/question.ts';
import { relationsOf } from '../generator/relations.ts';
import { asked, type Entity } from '../generator/world.ts';
import type { Surroundings } from './demonstrate.ts';

/** The teacher looks a thing up and notes all that is stated of what it found, and what is not, in any order. */
export function readingLesson(
  { name }: Entity,
  rng: KeyedRng,
  { search, render, read }: Pick<Surroundings, 'search' | 'render' | 'read'>,
): readonly Message[] {
  const found = search(name, rng.child('search'));
  const notes = found.flatMap(({ title }) => {
    const { type, facts, earlier } = read(title);
    return [
      ...relationsOf(type).map(
        (relation) => `${asked(title, relation.name)} ${facts.get(relation.name) ?? absentAnswer}`,
      ),
      ...[...earlier].map(([relation, value]) => `${asked(`former ${title}`, relation)} ${value}`),
    ];
  });
  const call = { id: 'call_0_0', name: 'search', arguments: { query: name } };
  return [
    user(`What is stated of ${name}?`),
    { role: 'assistant', content: '', reasoning: `find ${name}`, toolCalls: [call] },
    { role: 'tool', name: 'search', callId: call.id, content: render(found) },
    { role: 'assistant', content: 'That is all.', reasoning: notes.join('; ') },
  ];
}
