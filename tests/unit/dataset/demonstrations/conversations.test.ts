import { describe, expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import { conversationLine, readConversations } from '#dataset/demonstrations/conversations.ts';
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
  expect(read?.messages[1]).toMatchObject({ toolCalls: [{ id: 'call_0_0' }, { id: 'call_0_1' }] });
  expect(read?.messages.slice(2)).toEqual([
    { role: 'tool', name: 'a', content: '1', callId: 'call_0_0' },
    { role: 'tool', name: 'tool', content: '2', callId: 'call_0_1' },
  ]);
});

test('a mistake is reported with its place, its value and what is allowed', async () => {
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
    'FILE:2 messages[0].tols: is not a known key. Allowed: role, content, reasoning, tool_calls, name, tool_call_id.',
    'FILE:3 messages[0].tool_calls[0].arguments: is missing. Present: name.',
    `FILE:4 messages[0].content: must be string, got ["${'y'.repeat(75)}....`,
  ]);
});

test('a mistake that every line makes is shown once, with the shape of a line', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => ({ prompt: `${i} + 1?`, completion: `${i}` }));
  const [first, ...others] = await problemsOf(...rows);
  expect(first).toMatch(
    /^FILE:1 messages: is missing\..* \(29 more like this: lines 2, 3, 4, 5, 6, …\)$/,
  );
  expect(others.at(-1)).toContain('Each line is a conversation to imitate: {"messages": [');
  expect(others).toHaveLength(3);
});

test('a task is recognised, and the message names the mode that learns from tasks', async () => {
  const task = (task_id: string) => ({ task_id, prompt: 'Count.' });
  const [first] = await problemsOf(task('a'), task('b'));
  expect(first).toContain('FILE:1: is a task. Supervised training imitates conversations');
  expect(first).toContain('(1 more like this: line 2)');
});

test('an empty file is refused', async () => {
  expect(await problemsOf()).toEqual([expect.stringContaining('holds no conversations')]);
});

describe('A conversation of the OpenAI API', () => {
  const call = (id: string, name: string, args: unknown) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const tool = {
    type: 'function',
    function: { name: 'a', description: 'Adds.', parameters: { type: 'object' } },
  };
  const row = {
    messages: [
      { role: 'user', content: 'Go.', name: null },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('x1', 'a', '{"n": 2}'), call('x2', 'b', {})],
      },
      { role: 'tool', tool_call_id: 'x2', content: '2' },
      { role: 'tool', tool_call_id: 'x1', content: '1' },
      { role: 'assistant', content: 'Done.', reasoning_content: 'easy', tool_calls: null },
    ],
    tools: [tool],
  };

  test('is read with calls as text, answers by id and null keys left out', async () => {
    const [read] = await readConversations(write([row]));
    expect(read).toEqual({
      line: 1,
      messages: [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [
            { id: 'call_0_0', name: 'a', arguments: { n: 2 } },
            { id: 'call_0_1', name: 'b', arguments: {} },
          ],
        },
        { role: 'tool', name: 'b', content: '2', callId: 'call_0_1' },
        { role: 'tool', name: 'a', content: '1', callId: 'call_0_0' },
        { role: 'assistant', content: 'Done.', reasoning: 'easy' },
      ],
      tools: [{ name: 'a', description: 'Adds.', parameters: { type: 'object' } }],
    });
  });

  test('is refused with the place of each problem', async () => {
    const said = (...messages: object[]) => ({ messages });
    expect(
      await problemsOf(
        said({ role: 'assistant', tool_calls: [call('x', 'a', '{"n": ')] }),
        said(
          { role: 'assistant', tool_calls: [call('x', 'a', '{}')] },
          { role: 'tool', tool_call_id: 'y', content: '' },
        ),
        { ...row, tools: [{ name: 'a' }] },
        { ...row, parallel_tool_calls: false },
      ),
    ).toEqual([
      expect.stringMatching(
        /^FILE:1 messages\[0\]\.tool_calls\[0\]\.arguments: must be object, got/,
      ),
      'FILE:2 messages[1].tool_call_id: is "y", but the assistant\'s turn before it made no such call (the ids of its calls: "x").',
      'FILE:3 tools[0]: is {"name":"a"}; expected {"name", "description", "parameters"}, or {"type": "function", "function": {...}} around it.',
      'FILE:4 parallel_tool_calls: is not a known key. Allowed: messages, tools, metadata.',
    ]);
  });
});

test('a line of a conversation is read back as it was', async () => {
  const { messages, tools } = {
    messages: [
      { role: 'user', content: 'Go.' },
      {
        role: 'assistant',
        content: 'So.',
        reasoning: 'hm',
        toolCalls: [{ id: 'call_0_0', name: 'a', arguments: { n: [1, { m: 'x' }] } }],
      },
      { role: 'tool', name: 'a', callId: 'call_0_0', content: '1' },
    ] satisfies Message[],
    tools: [{ name: 'a', description: 'Adds.', parameters: { type: 'object' } }],
  };
  const line = conversationLine({ messages, tools }, { episode: '1/t/0' });
  expect(await readConversations(writeBelow(folder, 'line.jsonl', line))).toEqual([
    { messages, tools, line: 1 },
  ]);
});
