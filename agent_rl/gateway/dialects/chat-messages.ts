import { messagesReader } from '../../../dataset/demonstrations/conversations.ts';
import { toolDefinitions } from '../../../dataset/demonstrations/tool-definitions.ts';
import { isRecord } from '../../core/is-record.ts';
import type { AssistantMessage, Message } from '../../core/message.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { type Refusal, wrongField } from '../../http/refusal.ts';
import type { AskedMessage } from '../turns/asked.ts';
import type { Session } from '../turns/session.ts';
import { parsedJson } from '../../policies/tool-call-formats/read-turn.ts';

/**
 * The tools of a request, the same list for the same ones: what is rendered with them is remembered by it.
 *
 * @throws Refusal
 */
export const toolsOf = (
  given: readonly unknown[],
  { model }: Pick<Session, 'model'>,
): readonly ToolSpec[] => model.tools.get(JSON.stringify(given), () => newTools(given));

function newTools(given: readonly unknown[]): readonly ToolSpec[] {
  const problems: string[] = [];
  const tools = toolDefinitions(given.map(wholeTool), (path, text) =>
    problems.push(`${path}: ${text}`),
  );
  if (problems.length > 0) throw wrong('tools', problems);
  return tools;
}

/** A tool may leave out what it does and what it takes. */
function wholeTool(tool: unknown): unknown {
  const described = isRecord(tool) ? tool['function'] : undefined;
  if (!isRecord(tool) || !isRecord(described)) return tool;
  const { description, parameters: given } = described;
  const parameters = given ?? { type: 'object' };
  return {
    ...tool,
    function: {
      ...described,
      description: description ?? '',
      parameters:
        isRecord(parameters) && !('properties' in parameters)
          ? { ...parameters, properties: {} }
          : parameters,
    },
  };
}

/** The messages of a request, and which turns they say they are. @throws Refusal */
export const askedMessages = (
  given: readonly unknown[],
  pathOf?: PathOf,
): readonly AskedMessage[] =>
  messagesOf(given, pathOf).map((message, index) => {
    const { agent_rl_turn: turn, tool_calls: calls } = given[index] as Readonly<
      Record<string, unknown>
    >;
    const ids = Array.isArray(calls)
      ? calls.map((call) => (isRecord(call) ? call['id'] : call))
      : [];
    return { message, turn: typeof turn === 'string' ? turn : undefined, ids };
  });

/** Where a message stands in the request. */
type PathOf = (index: number) => string;
const inMessages: PathOf = (index) => `messages[${index}]`;
const fieldOf = (path: string): string => path.replace(/\[.*/s, '');

const readMessages = messagesReader();

/** The messages of a request. @throws Refusal */
export function messagesOf(given: readonly unknown[], pathOf = inMessages): readonly Message[] {
  const problems: string[] = [];
  const readable = given.map((message, index) => plainMessage(message, pathOf(index)));
  const messages = readMessages(
    readable.map(({ message }) => message),
    (path, text) =>
      problems.push(
        `${path.replace(/^messages\[(\d+)\]/, (_, index) => pathOf(Number(index)))}: ${text}`,
      ),
  );
  if (messages === undefined) throw wrong(fieldOf(pathOf(0)), problems);
  return messages.map((message, index) =>
    message.role === 'assistant' ? withBroken(message, readable[index]?.broken) : message,
  );
}

const wrong = (field: string, problems: readonly string[]): Refusal =>
  wrongField(field, 'wrong', problems.slice(0, 5).join(' '));

/** Texts of calls that cannot be read, by the place of the call. */
type Broken = ReadonlyMap<number, string>;

/**
 * A message as the reader takes it: contents in parts are one text, and `developer` is what `system` is now called. Other
 * keys are notes that clients leave in answers.
 */
function plainMessage(message: unknown, path: string): { message: unknown; broken?: Broken } {
  if (!isRecord(message)) return { message };
  const { role, content, name, refusal, tool_calls: calls, tool_call_id: answers } = message;
  const { reasoning_content: reasoning = message['reasoning'] } = message;
  for (const key of ['audio', 'function_call']) refuseKey(message, key, path);
  const said = role === 'assistant' ? (content ?? refusal ?? '') : content;
  const broken = new Map<number, string>();
  const readable = (given: unknown): unknown =>
    Array.isArray(given)
      ? given.map((call, place) => readableCall(call, (text) => broken.set(place, text)))
      : given;
  return {
    broken,
    message: present({
      role: role === 'developer' ? 'system' : role,
      content: Array.isArray(said) ? textOf(said, path) : said,
      // Of a person it means nothing to a template; of a tool's answer it is the tool.
      name: role === 'tool' ? name : undefined,
      tool_call_id: role === 'tool' ? answers : undefined,
      reasoning: role === 'assistant' ? reasoning : undefined,
      tool_calls: role === 'assistant' ? readable(calls) : undefined,
    }),
  };
}

const present = (record: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

/** @throws Refusal */
function refuseKey(message: Readonly<Record<string, unknown>>, key: string, path: string): void {
  if ((message[key] ?? null) === null) return;
  const text = `${path}.${key}: is not supported by this server. Remove it.`;
  throw wrongField(fieldOf(path), 'not supported', text, 'unsupported_parameter');
}

/** A call as it is, or one without arguments in its place where these are not an object of JSON. */
function readableCall(call: unknown, report: (text: string) => void): unknown {
  const called = isRecord(call) ? call['function'] : undefined;
  if (!isRecord(call) || !isRecord(called)) return call;
  const { name, arguments: given } = called;
  const { id, type } = call;
  const value = typeof given === 'string' ? parsedJson(given) : given;
  if (isRecord(value)) return present({ id, type, function: { name, arguments: given } });
  if (given !== undefined && given !== null && given !== '') {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    report(`{"name": ${JSON.stringify(name) ?? 'null'}, "arguments": ${text}}`);
  }
  return present({ id, type, function: { name, arguments: '{}' } });
}

/** A turn with its calls that could not be read as texts, as those are that the model writes. */
function withBroken(turn: AssistantMessage, broken: Broken | undefined): AssistantMessage {
  if (broken === undefined || broken.size === 0) return turn;
  const { toolCalls = [], ...said } = turn;
  const read = toolCalls.filter((_, place) => !broken.has(place));
  const malformedCalls = [...broken].map(([place, text]) => ({
    id: toolCalls[place]?.id ?? '',
    text,
    problem: 'Its arguments are not a JSON object.',
  }));
  return { ...said, malformedCalls, ...(read.length > 0 && { toolCalls: read }) };
}

const textParts: ReadonlySet<unknown> = new Set([
  'text',
  'input_text',
  'output_text',
  'summary_text',
  'reasoning_text',
]);

/** The text of parts. Whatever else they hold is not read. @throws Refusal for a part that is not text */
export function textOf(parts: readonly unknown[], path: string): string {
  const texts = parts.map((part) => {
    const { type, text, refusal } = isRecord(part) ? part : {};
    if (textParts.has(type) && typeof text === 'string') return text;
    if (type === 'refusal' && typeof refusal === 'string') return refusal;
    const problem = `${path}.content: a part is not text, but this model accepts only text.`;
    throw wrongField(fieldOf(path), 'not text', problem, 'unsupported_content');
  });
  return texts.join('');
}
