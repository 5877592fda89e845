import { ParquetWriter, fileWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';

import type { Message } from '../../core/message.ts';
import type { EpisodeRecord } from '../../runs/episodes/episode-record.ts';

/** A message as the OpenAI API has it. Arguments are JSON texts: rows of other calls then have the same columns. */
interface MessageRow {
  role: string;
  content: string;
  reasoning_content?: string | undefined;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  name?: string;
}

/** An episode as others read conversations. */
export interface ConversationRow {
  messages: MessageRow[];
  when: string;
  iteration: number;
  task_id: string;
  sample: number;
  agent: string;
  outcome: string;
  success: boolean;
  reward: number | null;
}

export function conversationRow(episode: EpisodeRecord): ConversationRow {
  const { messages, when, iteration, taskId, sample, agent, outcome, success, reward } = episode;
  const facts = { when, iteration, task_id: taskId, sample, agent, outcome, success, reward };
  return { messages: messages.map(messageRow), ...facts };
}

function messageRow(message: Message): MessageRow {
  const { role, content } = message;
  if (message.role === 'tool')
    return { role, content, tool_call_id: message.callId, name: message.name };
  if (message.role !== 'assistant') return { role, content };
  const { reasoning, toolCalls } = message;
  const calls = toolCalls?.map(({ id, name, arguments: args, written }) => ({
    id,
    type: 'function',
    function: { name, arguments: written ?? JSON.stringify(args) },
  }));
  return { role, content, reasoning_content: reasoning, ...(calls && { tool_calls: calls }) };
}

const optional = { repetition_type: 'OPTIONAL' } as const;
const text = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  ...optional,
});
const group = (name: string, ...children: (SchemaElement | SchemaElement[])[]): SchemaElement[] => [
  { name, ...optional, num_children: children.length },
  ...children.flat(),
];
const listOf = (
  name: string,
  ...children: (SchemaElement | SchemaElement[])[]
): SchemaElement[] => [
  { name, ...optional, num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...group('element', ...children),
];

const columns = [
  listOf(
    'messages',
    text('role'),
    text('content'),
    text('reasoning_content'),
    listOf(
      'tool_calls',
      text('id'),
      text('type'),
      group('function', text('name'), text('arguments')),
    ),
    text('tool_call_id'),
    text('name'),
  ),
  text('tools'),
  text('when'),
  { name: 'iteration', type: 'INT32', ...optional },
  text('task_id'),
  { name: 'sample', type: 'INT32', ...optional },
  text('agent'),
  text('outcome'),
  { name: 'success', type: 'BOOLEAN', ...optional },
  { name: 'reward', type: 'DOUBLE', ...optional },
] satisfies (SchemaElement | SchemaElement[])[];

const schema: SchemaElement[] = [
  { name: 'conversation', num_children: columns.length },
  ...columns.flat(),
];

const names = columns.map((column) => (Array.isArray(column) ? column[0]!.name : column.name));

/** A Parquet file of conversations that is written group by group. @param tools of all rows, as JSON */
export function conversationWriter(file: string, tools: string) {
  const writer = new ParquetWriter({ writer: fileWriter(file), schema, createdBy: 'agent_rl' });
  return {
    write: async (rows: readonly ConversationRow[]): Promise<void> => {
      const all = rows.map((row) => Object.assign<Record<string, unknown>, object>({ tools }, row));
      const columnData = names.map((name) => ({ name, data: all.map((row) => row[name] ?? null) }));
      await writer.write({ columnData });
    },
    finish: async (): Promise<void> => {
      await writer.finish();
    },
  };
}
