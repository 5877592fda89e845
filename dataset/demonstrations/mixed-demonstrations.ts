import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { AssistantMessage, Message, ToolCall } from '../../agent_rl/core/message.ts';
import { trainFamilies } from '../code_tasks/generator/families.ts';
import { codeDemonstrations } from './demonstrations.ts';
import { searchDemonstrations, type SearchDemonstrationOptions } from './search-demonstrations.ts';
import { trainedKinds } from '../search_tasks/generator/kinds.ts';

/** A conversation of the teacher of both kinds of tasks. */
export interface MixedDemonstration {
  taskId: string;
  /** The kind of the question or the family of the program. */
  kind: string;
  messages: readonly Message[];
  correct: boolean;
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
    const { value } = (index % 2 === 0 ? questions : programs).next();
    const { taskId, messages, correct } = value;
    const kind: string = 'kind' in value ? value.kind : value.family;
    if (slips && isMistaken(kind)) {
      const mistaken =
        'kind' in value ? asProgram(messages) : asQuestion(messages, options.render([]));
      yield { taskId, kind, messages: mistaken, correct: false, wrongTool: true };
    } else {
      yield { taskId, kind, messages, correct, wrongTool: false };
    }
  }
}

/** A question taken for a programming task. */
function asProgram(messages: readonly Message[]): Message[] {
  const [name = ''] = /\b[A-Z][aeio][lnr][a-z]{4}\b/u.exec(messages[0]?.content ?? '') ?? [];
  const [task, first] = opening(messages);
  const { reasoning = '' } = first;
  const call = { name: 'code_exec', arguments: { code: `print('${name}')` } };
  const last: Message = { role: 'assistant', content: `It is ${name}.`, reasoning };
  return [task, ...calling(call, { reasoning, result: name }), last];
}

/** A programming task taken for a question. */
function asQuestion(messages: readonly Message[], result: string): Message[] {
  const [task, first] = opening(messages);
  const { reasoning = '' } = first;
  const call = { name: 'search', arguments: { query: reasoning } };
  const last: Message = { role: 'assistant', content: 'Done.' };
  return [task, ...calling(call, { reasoning, result }), last];
}

function opening([task, first]: readonly Message[]): [Message, AssistantMessage] {
  if (task !== undefined && first?.role === 'assistant') return [task, first];
  throw new RangeError('A demonstration opens with a task and a turn.');
}

/** A call of the wrong tool and its result. */
function calling(
  call: Pick<ToolCall, 'name' | 'arguments'>,
  { reasoning, result }: { reasoning: string; result: string },
): Message[] {
  const id = 'call_0_0';
  return [
    { role: 'assistant', content: '', reasoning, toolCalls: [{ id, ...call }] },
    { role: 'tool', name: call.name, callId: id, content: result },
  ];
}
