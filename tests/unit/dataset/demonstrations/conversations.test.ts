import { describe, expect, test } from '@jest/globals';

import { HermesFormat } from '#agent_rl/policies/index.ts';
import { conversationLine, readConversations } from '#dataset/demonstrations/conversations.ts';
import { llamaModel, modelWithTemplate, qwen25Template } from '#tests/support/templates.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const readText = (text: string) => readConversations(writeBelow(folder, 'train.jsonl', text));
const readRows = (...rows: readonly object[]) =>
  readText(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

async function problemsOf(...rows: object[]): Promise<string[]> {
  const { code, message } = await rejectionOf(readRows(...rows));
  expect(code).toBe('DATASET_INVALID');
  return message.replaceAll(/\S+\/train\.jsonl/g, 'FILE').split('\n');
}

const said = (...messages: object[]) => ({ messages });
const own = (id: string, name: string, args: Record<string, unknown>) => ({
  id,
  name,
  arguments: args,
});

test('calls and answers of a turn get matching ids', async () => {
  const call = (name: string) => ({ name, arguments: {} });
  const turn = { role: 'assistant', content: '', tool_calls: [call('a'), call('b')] };
  const answers = [
    { role: 'tool', name: 'a', content: '1' },
    { role: 'tool', content: '2' },
  ];
  const [read] = await readRows(said({ role: 'user', content: 'Go.' }, turn, ...answers));
  expect(read?.messages[1]).toMatchObject({ toolCalls: [{ id: 'call_0_0' }, { id: 'call_0_1' }] });
  expect(read?.messages.slice(2)).toEqual([
    { role: 'tool', name: 'a', content: '1', callId: 'call_0_0' },
    { role: 'tool', name: 'tool', content: '2', callId: 'call_0_1' },
  ]);
});

test('a mistake is reported with its place, its value and what is allowed', async () => {
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
  expect(first).toMatch(/^FILE:1 messages: is missing\..* \(29 more like this: lines 2, 3, 4, 5/);
  expect(others.at(-1)).toContain('Each line is a conversation to imitate: {"messages": [');
  expect(others).toHaveLength(3);
});

test('a task is recognised, and the message names the mode that learns from tasks', async () => {
  const [first] = await problemsOf(...['a', 'b'].map((task_id) => ({ task_id, prompt: 'Count.' })));
  expect(first).toContain('FILE:1: is a task. Supervised training imitates conversations');
  expect(first).toContain('(1 more like this: line 2)');
  expect(await problemsOf()).toEqual([expect.stringContaining('holds no conversations')]);
});

describe('A conversation of the OpenAI API', () => {
  const call = (id: string, name: string, args: unknown) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const shown = { name: 'a', description: 'Adds.', parameters: { type: 'object' } };
  const calls = [call('x1', 'a', '{"n": 2}'), call('x2', 'b', {})];
  const messages = [
    { role: 'user', content: 'Go.', name: null },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'x2', content: '2' },
    { role: 'tool', tool_call_id: 'x1', content: '1' },
    { role: 'assistant', content: 'Done.', reasoning_content: 'easy', tool_calls: null },
  ];

  test('is read with calls as text, answers by id and null keys left out', async () => {
    const [read] = await readRows({ messages, tools: [{ type: 'function', function: shown }] });
    const toolCalls = [own('call_0_0', 'a', { n: 2 }), own('call_0_1', 'b', {})];
    expect(read).toEqual({
      line: 1,
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', name: 'b', content: '2', callId: 'call_0_1' },
        { role: 'tool', name: 'a', content: '1', callId: 'call_0_0' },
        { role: 'assistant', content: 'Done.', reasoning: 'easy' },
      ],
      tools: [shown],
    });
  });

  test('is refused with the place of each problem', async () => {
    const turn = (args: string) => ({ role: 'assistant', tool_calls: [call('x', 'a', args)] });
    expect(
      await problemsOf(
        said(turn('{"n": ')),
        said(turn('{}'), { role: 'tool', tool_call_id: 'y', content: '' }),
        { messages, tools: [{ name: 'a' }] },
        { messages, parallel_tool_calls: false },
      ),
    ).toEqual([
      expect.stringMatching(/^FILE:1 messages\[0\]\.tool_calls\[0\]\.arguments: must be object/),
      'FILE:2 messages[1].tool_call_id: is "y", but the assistant\'s turn before it made no such call (the ids of its calls: "x").',
      'FILE:3 tools[0]: is {"name":"a"}; expected {"name", "description", "parameters"}, or {"type": "function", "function": {...}} around it.',
      'FILE:4 parallel_tool_calls: is not a known key. Allowed: messages, tools, metadata.',
    ]);
  });

  test('is read back from its line as it was', async () => {
    const toolCalls = [own('call_0_0', 'a', { n: [1, { m: 'x' }] })];
    const turn = { role: 'assistant', content: 'So.', reasoning: 'hm', toolCalls } as const;
    const answer = { role: 'tool', name: 'a', callId: 'call_0_0', content: '1' } as const;
    const whole = {
      messages: [{ role: 'user', content: 'Go.' }, turn, answer],
      tools: [shown],
    } as const;
    const line = conversationLine(whole, { episode: '1/t/0' });
    expect(await readText(line)).toEqual([{ ...whole, line: 1 }]);
  });
});

/*
 * What templates show of numbers. Expected texts are of jinja2 3.1.6 with the filter `tojson` of Transformers, which is
 * json.dumps(x, ensure_ascii=False, indent=indent), on json.loads of the same line.
 */
const args =
  '{"x": 1.0, "y": [1e-7, 0.00001, -0.0, 1E5], "n": 12345678901234567890, "z": {"a": 2, "b": 1e16}}';
const printedArgs =
  '{"x": 1.0, "y": [1e-07, 1e-05, -0.0, 100000.0], "n": 12345678901234567890, "z": {"a": 2, "b": 1e+16}}';
const schema = '{"type": "object", "properties": {"x": {"minimum": 0.0, "default": 1e-07}}}';
const row = (given: string): string =>
  `{"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "tool_calls": [${given}]}],` +
  ` "tools": [{"type": "function", "function": {"name": "f", "description": "Does.", "parameters": ${schema}}}]}`;

const read = async (line: string) => (await readText(line))[0]!;

describe.each([
  ['an object', `{"name": "f", "arguments": ${args}}`],
  [
    "OpenAI's text",
    `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${JSON.stringify(args)}}}`,
  ],
])('The numbers in arguments that are %s', (_title, call) => {
  test('appear in prompts as Python prints them', async () => {
    const { messages, tools = [] } = await read(row(call));
    const qwen = modelWithTemplate(qwen25Template).template.renderChat(messages, tools);
    expect(qwen).toContain(`\n{"name": "f", "arguments": ${printedArgs}}\n</tool_call><|im_end|>`);
    expect(qwen).toContain(`"parameters": ${schema}}}\n</tools>`);
    const llama = llamaModel().template.renderChat(messages, tools);
    expect(llama).toContain(`\n\n{"name": "f", "parameters": ${printedArgs}}<|eot_id|>`);
    expect(llama).toContain('"minimum": 0.0,\n                    "default": 1e-07\n');
  });

  test('become numbers of JavaScript, and are written back as they were', async () => {
    const conversation = await read(row(call));
    expect(conversation.messages[1]).toMatchObject({
      toolCalls: [{ arguments: { x: 1, y: [1e-7, 0.00001, -0, 100_000], z: { a: 2, b: 1e16 } } }],
    });
    expect(await read(conversationLine(conversation))).toEqual(conversation);
  });
});

const hermes = (text: string) => new HermesFormat().read({ text, turn: 0, inThought: false });

test('a sampled call is written back with the numbers as the model wrote them', () => {
  const text = `<tool_call>\n{"name": "f", "arguments": ${printedArgs}}\n</tool_call>`;
  const message = hermes(text);
  const call = message.toolCalls![0]!;
  expect(call.arguments).toMatchObject({ x: 1, z: { b: 1e16 } });
  expect(new HermesFormat().print(call)).toBe(text);
  const spelled = '"x":1.0,"y":[1e-07,1e-05,-0.0,100000.0]';
  expect(conversationLine({ messages: [message] })).toContain(spelled);
});

test.each([
  [
    '{"messages": [{"role": "user", "content": 1.0}], "metadata": {"score": 1.0}}',
    'messages[0].content: must be string, got 1.',
  ],
  [
    '{"messages": [{"role": "user", "content": ""}], "tools": [{"name": 1.0, "description": "", "parameters": {}}]}',
    'tools[0]: is {"name":1.0,',
  ],
])('a number is refused where a text is expected: %s', async (line, problem) => {
  await expect(read(line)).rejects.toThrow(problem);
});

test('a sampled call that is nested too deep is malformed and throws nothing', () => {
  const a = `${'['.repeat(50_000)}1.0${']'.repeat(50_000)}`;
  const { malformedCalls } = hermes(
    `<tool_call>{"name": "f", "arguments": {"a": ${a}}}</tool_call>`,
  );
  expect(malformedCalls).toHaveLength(1);
});
