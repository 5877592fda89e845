import { Type, type Static } from '../../agent_rl/core/typebox.ts';
import type { Message, ToolCall } from '../../agent_rl/core/message.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { marked, unmarked, withoutMarks } from '../../agent_rl/core/python/python-json.ts';
import type { ToolDefinition } from '../../model/text/chat-template.ts';
import type { DatasetProblem } from '../tasks/dataset-problem.ts';
import { readRows, type RowReader } from '../tasks/read-rows.ts';
import { anyMetadata, closed, filled, rowCheck } from '../tasks/row-schema.ts';
import { parseConversation, plainRow } from './openai-form.ts';
import { type Report, toolDefinitions, toolRow } from './tool-definitions.ts';

const ToolCallRow = Type.Object(
  {
    name: filled,
    arguments: Type.Record(Type.String(), Type.Unknown()),
    /** What `tool_call_id` of an answer names. */
    id: Type.Optional(Type.String()),
  },
  closed,
);

const MessageRow = Type.Object(
  {
    role: Type.Enum(['system', 'user', 'assistant', 'tool']),
    content: Type.String(),
    reasoning: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(ToolCallRow)),
    /** Name of the tool that answered. */
    name: Type.Optional(Type.String()),
    /** The call that was answered, one of the turn before. */
    tool_call_id: Type.Optional(Type.String()),
  },
  closed,
);
type MessageRow = Static<typeof MessageRow>;

const ConversationRow = Type.Object(
  {
    messages: Type.Array(MessageRow, { minItems: 1 }),
    tools: Type.Optional(Type.Unknown()),
    metadata: anyMetadata,
  },
  closed,
);

/** A conversation to imitate. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** What the assistant could call; the tools of the run when absent. */
  readonly tools?: readonly ToolDefinition[] | undefined;
}

/** One of a file. */
export interface ReadConversation extends Conversation {
  /** From 1. */
  readonly line: number;
}

/**
 * Makes a reader of lists of messages, each `{"role", "content", "reasoning"?, "tool_calls"?, "name"?}` or of the form of
 * the OpenAI API. It reports all that is wrong with a list, and then returns nothing.
 */
export function messagesReader(): (
  value: unknown,
  report: Report,
) => readonly Message[] | undefined {
  const read = conversationReader();
  return (value, report) => {
    const reading = read({ messages: value }, 1);
    if ('row' in reading) return reading.row.messages;
    for (const { path, text } of reading.problems) report(path, text);
    return undefined;
  };
}

function conversationReader(): RowReader<ReadConversation> {
  const check = rowCheck(ConversationRow, ({ messages: rows, tools: given }, line) => {
    const problems: DatasetProblem[] = [];
    const report: Report = (path, text) => problems.push({ line, path, text });
    const messages = messagesOf(rows, report);
    const tools = given === undefined ? undefined : toolDefinitions(given, report);
    return problems.length > 0 ? { problems } : { row: { messages, line, tools } };
  });
  return (value, line) => {
    const reading = check(plainRow(value), line);
    if ('row' in reading) return reading;
    return { problems: reading.problems.map(withoutMarksShown) };
  };
}

/** A problem with its value as it was written. */
const withoutMarksShown = ({ line, path, text, value }: DatasetProblem): DatasetProblem => {
  const shown = { line, path, text: unmarked(text) };
  return value === undefined ? shown : { ...shown, value: unmarked(value) };
};

const taskInstead =
  'is a task. Supervised training imitates conversations, {"messages": [...]}; reinforcement learning (train.mode: rl) learns from tasks.';

/**
 * Conversations to imitate, one `{"messages": [{"role", "content", "reasoning"?, "tool_calls"?}], "tools"?: [...]}` a
 * line, or the same as the OpenAI API has it.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export const readConversations = (file: string): Promise<ReadConversation[]> =>
  readRows(file, {
    name: 'conversations',
    parse: parseConversation,
    remedy:
      'Each line is a conversation to imitate: {"messages": [{"role": "user", "content": ...}, {"role": "assistant", ...}]}.',
    reader: () => {
      const read = conversationReader();
      return (value, line) =>
        isRecord(value) && 'task_id' in value
          ? { problems: [{ line, path: '', text: taskInstead }] }
          : read(value, line);
    },
  });

const markedArguments = ({ arguments: value, written }: ToolCall) => marked(value, written);

/** The line of a conversation. @param metadata what is to be known of it and not learned */
export function conversationLine(
  { messages, tools }: Conversation,
  metadata?: Readonly<Record<string, unknown>>,
): string {
  const row = {
    messages: messages.map((message) => messageRow(message, markedArguments)),
    tools: tools?.map(toolRow),
    metadata,
  };
  return unmarked(JSON.stringify(row));
}

/**
 * A message as the line of a conversation has it.
 *
 * @param shown what is written of a call's arguments
 */
export function messageRow(
  message: Message,
  shown: (call: ToolCall) => Readonly<Record<string, unknown>> = (call) => call.arguments,
) {
  const { role, content } = message;
  if (message.role === 'tool') return { role, content, name: message.name };
  if (message.role !== 'assistant') return { role, content };
  const { reasoning, toolCalls } = message;
  return {
    role,
    content,
    reasoning,
    tool_calls: toolCalls?.map((call) => ({ name: call.name, arguments: shown(call) })),
  };
}

/** The turn whose calls are answered next, and the answers to it so far. */
interface Asked {
  turn: number;
  calls: readonly { id?: string; name: string }[];
  answered: number;
}

function messagesOf(rows: readonly MessageRow[], report: Report): Message[] {
  let asked: Asked = { turn: -1, calls: [], answered: 0 };
  return rows.map((row, place): Message => {
    const { role, content, reasoning, tool_calls: calls } = row;
    if (role === 'tool') {
      const { index, name } = answeredCall(row, asked, (text) =>
        report(`messages[${place}].tool_call_id`, text),
      );
      asked.answered += 1;
      return { role, content, name, callId: `call_${asked.turn}_${index}` };
    }
    if (role !== 'assistant') return { role, content };
    asked = { turn: asked.turn + 1, calls: calls ?? [], answered: 0 };
    const toolCalls = calls?.map(({ name, arguments: args }, index) => {
      const { value, written } = withoutMarks(args);
      const id = `call_${asked.turn}_${index}`;
      return { id, name, arguments: value, written };
    });
    return {
      role,
      content,
      reasoning,
      toolCalls,
    };
  });
}

/** The call that a result answers: the one it names, or else the next of the turn. */
function answeredCall(
  { tool_call_id: id, name }: MessageRow,
  { calls, answered }: Asked,
  report: (text: string) => void,
): { index: number; name: string } {
  if (id === undefined) return { index: answered, name: name ?? 'tool' };
  const index = calls.findIndex((call) => call.id === id);
  if (index >= 0) return { index, name: name ?? calls[index]?.name ?? 'tool' };
  const ids = calls.map((call) => (call.id === undefined ? 'no id' : `"${call.id}"`));
  const known = ids.length === 0 ? 'it made no calls' : `the ids of its calls: ${ids.join(', ')}`;
  report(`is "${id}", but the assistant's turn before it made no such call (${known}).`);
  return { index: answered, name: name ?? 'tool' };
}
