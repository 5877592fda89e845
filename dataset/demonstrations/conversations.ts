import { Ajv } from 'ajv';
import { Type, type Static } from 'typebox';

import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import { type DatasetProblem, datasetError } from '../tasks/dataset-problem.ts';
import { readJsonLines } from '../tasks/json-lines.ts';

const closed = { additionalProperties: false };

const ToolCallRow = Type.Object(
  { name: Type.String({ minLength: 1 }), arguments: Type.Record(Type.String(), Type.Unknown()) },
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

const ConversationRow = Type.Object(
  { messages: Type.Array(MessageRow, { minItems: 1 }) },
  { additionalProperties: false },
);

/** Says that something is wrong with a value: where in it, and what. */
type Report = (path: string, text: string) => void;

/**
 * Makes a reader of lists of messages, each `{"role", "content", "reasoning"?, "tool_calls"?, "name"?}`. It reports all
 * that is wrong with a list, and then returns nothing.
 */
export function messagesReader(): (
  value: unknown,
  report: Report,
) => readonly Message[] | undefined {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(ConversationRow);
  return (value, report) => {
    const row: unknown = { messages: value };
    if (validate(row)) return messagesOf(row.messages);
    for (const { instancePath, message = '', params } of validate.errors ?? []) {
      report(pathOf(instancePath), `${message} ${showValue(params)}.`);
    }
    return undefined;
  };
}

const pathOf = (instancePath: string): string => instancePath.replaceAll('/', '.').slice(1);

const taskInstead =
  'is a task. Supervised training imitates conversations, {"messages": [...]}; reinforcement learning (train.mode: rl) learns from tasks.';

const isTask = (row: unknown): boolean =>
  typeof row === 'object' && row !== null && 'task_id' in row;

/**
 * Conversations to imitate, one `{"messages": [{"role", "content", "reasoning"?, "tool_calls"?}]}` a line.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export async function readConversations(file: string): Promise<readonly (readonly Message[])[]> {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(ConversationRow);
  const problems: DatasetProblem[] = [];
  const conversations: (readonly Message[])[] = [];
  for await (const row of readJsonLines(file)) {
    if ('problem' in row) {
      problems.push(row.problem);
    } else if (validate(row.value)) {
      conversations.push(messagesOf(row.value.messages));
    } else {
      for (const { instancePath, message = '', params } of validate.errors ?? []) {
        const path = pathOf(instancePath);
        const value = showValue(params);
        const text = isTask(row.value) ? taskInstead : `${message} ${value}.`;
        problems.push({ line: row.line, path, text, value });
        if (isTask(row.value)) break;
      }
    }
  }
  if (problems.length === 0 && conversations.length === 0) {
    problems.push({
      line: 1,
      path: '',
      text: 'the file holds no conversations; expected one a line.',
    });
  }
  if (problems.length > 0) throw datasetError(file, problems);
  return conversations;
}

/** The line of a conversation. */
export function conversationLine(messages: readonly Message[]): string {
  return JSON.stringify({ messages: messages.map(messageRow) });
}

/** A message as it stands in the line of a conversation. */
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
    const { role, content } = row;
    if (role === 'assistant') {
      turn += 1;
      answered = 0;
      const calls = row.tool_calls?.map((call, index) => ({
        id: `call_${turn}_${index}`,
        ...call,
      }));
      return {
        role,
        content,
        ...(row.reasoning !== undefined && { reasoning: row.reasoning }),
        ...(calls !== undefined && { toolCalls: calls }),
      };
    }
    if (role === 'tool') {
      return { role, content, name: row.name ?? 'tool', callId: `call_${turn}_${answered++}` };
    }
    return { role, content };
  });
}
