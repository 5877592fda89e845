import { expect, test } from '@jest/globals';

import { readConversations } from '#dataset/demonstrations/conversations.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

const write = (rows: readonly object[]): string =>
  writeBelow(folder, 'train.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

async function problemsOf(...rows: object[]): Promise<string[]> {
  const { code, message } = await rejectionOf(readConversations(write(rows)));
  expect(code).toBe('DATASET_INVALID');
  return message.replaceAll(/\S+\/train\.jsonl/g, 'FILE').split('\n');
}

test('calls and answers of a turn get matching ids', async () => {
  const call = (name: string) => ({ name, arguments: {} });
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: '', tool_calls: [call('a'), call('b')] },
    { role: 'tool', name: 'a', content: '1' },
    { role: 'tool', content: '2' },
  ];
  const [read] = await readConversations(write([{ messages }]));
  expect(read?.[1]).toMatchObject({ toolCalls: [{ id: 'call_0_0' }, { id: 'call_0_1' }] });
  expect(read?.slice(2)).toEqual([
    { role: 'tool', name: 'a', content: '1', callId: 'call_0_0' },
    { role: 'tool', name: 'tool', content: '2', callId: 'call_0_1' },
  ]);
});

test('a mistake names its place, the value and what is allowed', async () => {
  const said = (message: object) => ({ messages: [message] });
  expect(
    await problemsOf(
      said({ role: 'robot', content: 'Hi.' }),
      said({ role: 'user', content: 'Hi.', tols: [] }),
      said({ role: 'assistant', content: 'x'.repeat(9), tool_calls: [{ name: 'a' }] }),
      said({ role: 'user', content: ['y'.repeat(500)] }),
    ),
  ).toEqual([
    'FILE:1 messages[0].role: must be one of system, user, assistant, tool, got "robot".',
    'FILE:2 messages[0].tols: is not a known key. Allowed: role, content, reasoning, tool_calls, name.',
    'FILE:3 messages[0].tool_calls[0].arguments: is missing. There is name.',
    `FILE:4 messages[0].content: must be string, got ["${'y'.repeat(75)}....`,
  ]);
});

test('a mistake that every line makes is shown once, with what a line is like', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => ({ prompt: `${i} + 1?`, completion: `${i}` }));
  const [first, ...others] = await problemsOf(...rows);
  expect(first).toMatch(
    /^FILE:1 messages: is missing\..* \(29 more like this: lines 2, 3, 4, 5, 6, …\)$/,
  );
  expect(others.at(-1)).toContain('Each line is a conversation to imitate: {"messages": [');
  expect(others).toHaveLength(3);
});

test('a task is named as one, with the mode that learns from tasks', async () => {
  const task = (task_id: string) => ({ task_id, prompt: 'Count.' });
  const [first] = await problemsOf(task('a'), task('b'));
  expect(first).toContain('FILE:1: is a task. Supervised training imitates conversations');
  expect(first).toContain('(1 more like this: line 2)');
});

test('an empty file is refused', async () => {
  expect(await problemsOf()).toEqual([
    'FILE:1: the file holds no conversations; expected one a line.',
  ]);
});
