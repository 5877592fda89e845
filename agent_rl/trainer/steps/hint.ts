import type { AssistantMessage, Message } from '../../core/message.ts';
import type { Part } from '../../core/rollout.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { SourcedTokens } from '../../core/transcript.ts';

/** What a hint for one episode is made of. */
export interface HintSources {
  task: Task;
  part: Part;
  /** The parts of its group, its own among them. */
  group: readonly Part[];
}

/** Encodes text as the policy's tokenizer does. */
export type Encode = (text: string) => readonly number[];

function fieldOf(name: string, { task, part, group }: HintSources): unknown {
  if (name === 'error') return part.calls.findLast(({ status }) => status !== 'ok')?.result.content;
  if (name === 'solution')
    return group.flatMap((one) => (one !== part && one.success ? turnsText(one.messages) : []))[0];
  return { ...task.metadata, ...task }[name];
}

/** The hint for an episode; undefined if the template asks for what the episode does not have. */
export function hintText(template: string, from: HintSources): string | undefined {
  let isWhole = true;
  const text = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fieldOf(name, from);
    isWhole &&= value !== '' && (typeof value === 'string' || typeof value === 'number');
    return String(value);
  });
  // Not glued to the question's last word.
  return isWhole ? text.replace(/^(?=\S)/, '\n') : undefined;
}

/** The tokens of the hint for an episode; undefined where it has none or no place for it. */
export function hintFor(
  template: string,
  encode: Encode,
  from: HintSources,
): readonly number[] | undefined {
  const text = from.part.sequences.every((one) => hintPlace(one) !== undefined)
    ? hintText(template, from)
    : undefined;
  return text === undefined ? undefined : encode(text);
}

/** The turns of an agent with what its tools answered. */
const turnsText = (messages: readonly Message[]): string =>
  messages
    .filter((_, at) => messages.slice(0, at + 1).some(({ role }) => role === 'assistant'))
    .flatMap((message) => [message.content].concat(callsOf(message as AssistantMessage)))
    .filter((text) => text !== '')
    .join('\n');

const callsOf = ({ toolCalls = [] }: AssistantMessage): string[] =>
  toolCalls.map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given }));

/** Where a hint stands: at the end of the user's last message before the first sampled token; undefined without one. */
export function hintPlace({ spans }: SourcedTokens): number | undefined {
  const first = spans.findIndex(({ source }) => source === 'sampled');
  return spans.slice(0, Math.max(0, first)).findLast(({ source }) => source === 'user')?.end;
}

/** The values with others inserted at a place. */
export const inserted = (
  values: ArrayLike<number>,
  at: number,
  others: ArrayLike<number>,
): number[] => [
  ...Array.from(values).slice(0, at),
  ...Array.from(others),
  ...Array.from(values).slice(at),
];
