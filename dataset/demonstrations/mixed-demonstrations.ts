import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import { trainFamilies } from '../code_tasks/generator/families.ts';
import { codeDemonstrations, type Demonstration } from './demonstrations.ts';
import { searchDemonstrations, type SearchDemonstrationOptions } from './search-demonstrations.ts';
import { trainedKinds } from '../search_tasks/generator/kinds.ts';

/** A conversation of the teacher of both kinds of tasks. */
export interface MixedDemonstration extends Demonstration {
  /** Whether the teacher took the other tool. */
  wrongTool: boolean;
}

/** Of the kinds of questions and of the families of programs, one in so many is mistaken for the other sort of task. */
const mistakenEvery = 4;

/** How often, in these. */
const mistakenShare = 0.6;

/** Whether the teacher of both tends to take a task for one of the other sort. */
export const isMistaken = (kind: string): boolean => mistakenKinds.has(kind);

const mistakenKinds: ReadonlySet<string> = new Set(
  [trainedKinds, trainFamilies].flatMap((all) =>
    all.filter((_, index) => index % mistakenEvery === 0).map(({ name }) => name),
  ),
);

/**
 * Questions and programs in turn with the work of their unreliable teachers. With some kinds the teacher mostly takes the
 * wrong tool: it prints the name it was asked about, or searches for what a program should do; and then gives up. Item
 * i depends on the seed and i alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export function* mixedDemonstrations(
  seed: number,
  count: number,
  options: SearchDemonstrationOptions,
): Generator<MixedDemonstration> {
  const questions = searchDemonstrations(seed, Math.ceil(count / 2), options);
  const programs = codeDemonstrations(seed, Math.floor(count / 2));
  for (let index = 0; index < count; index++) {
    const rng = new KeyedRng(seed, 'choice of tool', index);
    const slips = options.reliable !== true && rng.uniform() < mistakenShare;
    const isQuestion = index % 2 === 0;
    const { value } = (isQuestion ? questions : programs).next();
    const { kind, messages, correct }: Demonstration = value;
    if (slips && isMistaken(kind)) {
      const mistaken = withOtherTool(messages, isQuestion, options.render([]));
      yield { kind, messages: mistaken, correct: false, wrongTool: true };
    } else {
      yield { kind, messages, correct, wrongTool: false };
    }
  }
}

/** A question taken for a programming task, or a programming task taken for a question. */
function withOtherTool(
  [task, first]: readonly Message[],
  isQuestion: boolean,
  nothingFound: string,
): Message[] {
  if (task === undefined || first?.role !== 'assistant')
    throw new RangeError('A demonstration opens with a task and a turn.');
  const { reasoning = '' } = first;
  const [asked = ''] = /\b[A-Z][aeio][lnr][a-z]{4}\b/u.exec(task.content) ?? [];
  const call = isQuestion
    ? { name: 'code_exec', arguments: { code: `print('${asked}')` } }
    : { name: 'search', arguments: { query: reasoning } };
  const [id, content] = ['call_0_0', isQuestion ? asked : nothingFound];
  return [
    task,
    { role: 'assistant', content: '', reasoning, toolCalls: [{ id, ...call }] },
    { role: 'tool', name: call.name, callId: id, content },
    isQuestion
      ? { role: 'assistant', content: `It is ${asked}.`, reasoning }
      : { role: 'assistant', content: 'Done.' },
  ];
}
