import { ParquetWriter, fileWriter } from 'hyparquet-writer';
import type { SchemaElement } from 'hyparquet';

import type { Message } from '../../core/message.ts';
import { listOf, optional, textOf } from '../../core/wire/parquet-schema.ts';
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

type Elements = readonly (SchemaElement | SchemaElement[])[];

const group = (name: string, ...children: Elements): SchemaElement[] => [
  { name, ...optional, num_children: children.length },
  ...children.flat(),
];

const listOfGroups = (name: string, ...children: Elements): SchemaElement[] =>
  listOf(name, ...group('element', ...children));

const columns = [
  listOfGroups(
    'messages',
    textOf('role'),
    textOf('content'),
    textOf('reasoning_content'),
    listOfGroups(
      'tool_calls',
      textOf('id'),
      textOf('type'),
      group('function', textOf('name'), textOf('arguments')),
    ),
    textOf('tool_call_id'),
    textOf('name'),
  ),
  textOf('tools'),
  textOf('when'),
  { name: 'iteration', type: 'INT32', ...optional },
  textOf('task_id'),
  { name: 'sample', type: 'INT32', ...optional },
  textOf('agent'),
  textOf('outcome'),
  { name: 'success', type: 'BOOLEAN', ...optional },
  { name: 'reward', type: 'DOUBLE', ...optional },
] satisfies Elements;

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
