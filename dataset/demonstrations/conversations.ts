import { Type, type Static } from 'typebox';

import type { Message } from '../../agent_rl/core/message.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readRows, type RowReader } from '../tasks/read-rows.ts';
import { closed, filled, rowCheck } from '../tasks/row-schema.ts';

const ToolCallRow = Type.Object(
  { name: filled, arguments: Type.Record(Type.String(), Type.Unknown()) },
  closed,
);

const MessageRow = Type.Object(
  {
    role: Type.Enum(['system', 'user', 'assistant', 'tool']),
    content: Type.String(),
    reasoning: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(ToolCallRow)),
    /** Of the tool that answered. */
    name: Type.Optional(Type.String()),
  },
  closed,
);
export type MessageRow = Static<typeof MessageRow>;

const ConversationRow = Type.Object({ messages: Type.Array(MessageRow, { minItems: 1 }) }, closed);

type Report = (path: string, text: string) => void;

/**
 * Makes a reader of lists of messages, each `{"role", "content", "reasoning"?, "tool_calls"?, "name"?}`. It reports all
 * that is wrong with a list, and then returns nothing.
 */
export function messagesReader(): (value: unknown, report: Report) => Message[] | undefined {
  const read = conversationReader();
  return (value, report) => {
    const reading = read({ messages: value }, 1);
    if ('row' in reading) return reading.row;
    for (const { path, text } of reading.problems) report(path, text);
    return undefined;
  };
}

const conversationReader = (): RowReader<Message[]> =>
  rowCheck(ConversationRow, ({ messages }) => ({ row: messagesOf(messages) }));

const taskInstead =
  'is a task. Supervised training imitates conversations, {"messages": [...]}; reinforcement learning (train.mode: rl) learns from tasks.';

/**
 * Conversations to imitate, one `{"messages": [{"role", "content", "reasoning"?, "tool_calls"?}]}` a line.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export const readConversations = (file: string): Promise<Message[][]> =>
  readRows(file, {
    name: 'conversations',
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

/** The line of a conversation. */
export function conversationLine(messages: readonly Message[]): string {
  return JSON.stringify({ messages: messages.map(messageRow) });
}

/** A message as the line of a conversation has it. */
export function messageRow(message: Message): MessageRow {
  const { role, content } = message;
  if (message.role === 'tool') return { role, content, name: message.name };
  if (message.role !== 'assistant') return { role, content };
  const { reasoning, toolCalls } = message;
  return {
    role,
    content,
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls !== undefined && {
      tool_calls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })),
    }),
  };
}

function messagesOf(rows: readonly MessageRow[]): Message[] {
  let turn = -1;
  let answered = 0;
  return rows.map((row): Message => {
    const { role, content, reasoning, tool_calls: calls, name = 'tool' } = row;
    if (role === 'tool') return { role, content, name, callId: `call_${turn}_${answered++}` };
    if (role !== 'assistant') return { role, content };
    turn += 1;
    answered = 0;
    const toolCalls = calls?.map((call, index) =>
      Object.assign({ id: `call_${turn}_${index}` }, call),
    );
    return {
      role,
      content,
      ...(reasoning !== undefined && { reasoning }),
      ...(toolCalls && { toolCalls }),
    };
  });
}
