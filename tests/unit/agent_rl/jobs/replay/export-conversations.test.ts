import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';

import { user } from '#agent_rl/core/message.ts';
import { exportRun } from '#agent_rl/jobs/replay/export-run.ts';
import { readLines } from '#tests/support/acme-project.ts';
import { episodeEvent, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const runs = temporaryFolder();
const add = { name: 'add', description: 'Adds.', parameters: { type: 'object' } };
const tools = [{ type: 'function', function: add }];
const call = { id: 'call_0_0', name: 'add', arguments: { a: 1 }, written: '{"a":1.0}' };
const messages = [
  user('What is 1 + 1?'),
  { role: 'assistant', content: '', reasoning: 'add', toolCalls: [call] },
  { role: 'tool', content: '2', name: 'add', callId: 'call_0_0' },
  { role: 'assistant', content: 'It is 2.' },
] as const;

const written = [
  { role: 'user', content: 'What is 1 + 1?' },
  {
    role: 'assistant',
    content: '',
    reasoning_content: 'add',
    tool_calls: [
      { id: 'call_0_0', type: 'function', function: { name: 'add', arguments: '{"a":1.0}' } },
    ],
  },
  { role: 'tool', content: '2', tool_call_id: 'call_0_0', name: 'add' },
  { role: 'assistant', content: 'It is 2.' },
];
const facts = { when: 'train', iteration: 1, task_id: 'sum', sample: 0, agent: 'policy' };

function runOf(name: string) {
  const folder = recordedFolder(runs, name);
  writeFileSync(folder.tools, JSON.stringify(tools));
  record(folder, episodeEvent({ iteration: 1, taskId: 'sum', messages, reward: 0.5 }));
  return folder;
}
const print = () => undefined;

/** Without the columns of the other messages. */
const given = (row: object): object =>
  JSON.parse(JSON.stringify(row, (_, value: unknown) => value ?? undefined)) as object;

test('conversations are written as lines in the form of the OpenAI API, with tools and rewards', async () => {
  const { path: run } = runOf('lines');
  const { folder } = await exportRun({ run, format: 'messages', print });
  const [line] = readLines(String(folder), 'train.jsonl');
  expect(line).toMatchObject({ ...facts, messages: written, tools, reward: 0.5, success: true });
  expect(readFileSync(join(String(folder), 'eval.jsonl'), 'utf8')).toBe('');
});

test('conversations are written as Parquet with the same rows, and never over another file', async () => {
  const { path: run } = runOf('parquet');
  const { folder } = await exportRun({ run, format: 'parquet', print });
  const file = await asyncBufferFromFile(join(String(folder), 'train.parquet'));
  const [row] = await parquetReadObjects({ file });
  expect(row).toMatchObject({ ...facts, reward: 0.5, success: true, outcome: 'completed' });
  expect(JSON.parse(String(row!['tools']))).toEqual(tools);
  expect((row!['messages'] as object[]).map(given)).toEqual(written);
  const { message } = await rejectionOf(exportRun({ run, format: 'parquet', print }));
  expect(message).toContain('already exists and is not overwritten');
});
