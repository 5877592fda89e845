import { describe, expect, test } from '@jest/globals';

import { HermesFormat } from '#agent_rl/policies/index.ts';
import { conversationLine, readConversations } from '#dataset/demonstrations/conversations.ts';
import type { LanguageModel } from '#model/text/language-model.ts';
import { llamaModel, modelWithTemplate, qwen25Template } from '#tests/support/templates.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

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

const read = async (line: string) => {
  const [conversation] = await readConversations(writeBelow(folder, 'train.jsonl', line));
  if (conversation === undefined) throw new Error('There is a conversation.');
  return conversation;
};
const rendered = (
  { template }: LanguageModel,
  { messages, tools = [] }: Awaited<ReturnType<typeof read>>,
) => template.renderChat(messages, tools);

describe.each([
  ['an object', `{"name": "f", "arguments": ${args}}`],
  [
    "OpenAI's text",
    `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${JSON.stringify(args)}}}`,
  ],
])('The numbers in arguments that are %s', (_title, call) => {
  test('appear in prompts as Python prints them', async () => {
    const conversation = await read(row(call));
    const qwen = rendered(modelWithTemplate(qwen25Template), conversation);
    expect(qwen).toContain(`\n{"name": "f", "arguments": ${printedArgs}}\n</tool_call><|im_end|>`);
    expect(qwen).toContain(`"parameters": ${schema}}}\n</tools>`);
    const llama = rendered(llamaModel(), conversation);
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

test('a sampled call is written back with the numbers as the model wrote them', () => {
  const format = new HermesFormat();
  const text = `<tool_call>\n{"name": "f", "arguments": ${printedArgs}}\n</tool_call>`;
  const message = format.read({ text, turn: 0, inThought: false });
  const [call] = message.toolCalls ?? [];
  expect(call?.arguments).toMatchObject({ x: 1, z: { b: 1e16 } });
  expect(call === undefined ? '' : format.print(call)).toBe(text);
  expect(conversationLine({ messages: [message] })).toContain(
    '"x":1.0,"y":[1e-07,1e-05,-0.0,100000.0]',
  );
});

test('a number is refused where a text is expected', async () => {
  const line = '{"messages": [{"role": "user", "content": 1.0}], "metadata": {"score": 1.0}}';
  await expect(read(line)).rejects.toThrow('messages[0].content: must be string, got 1.');
  const tool = '{"name": 1.0, "description": "", "parameters": {}}';
  await expect(
    read(`{"messages": [{"role": "user", "content": ""}], "tools": [${tool}]}`),
  ).rejects.toThrow('tools[0]: is {"name":1.0,');
});

test('a sampled call that is nested too deep is malformed and throws nothing', () => {
  const list = `${'['.repeat(50_000)}1.0${']'.repeat(50_000)}`;
  const text = `<tool_call>{"name": "f", "arguments": {"a": ${list}}}</tool_call>`;
  const { malformedCalls = [] } = new HermesFormat().read({ text, turn: 0, inThought: false });
  expect(malformedCalls).toHaveLength(1);
});
