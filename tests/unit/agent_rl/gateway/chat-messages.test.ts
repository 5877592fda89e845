import { describe, expect, test } from '@jest/globals';

import { messagesOf } from '#agent_rl/gateway/dialects/chat-messages.ts';

const called = (given: unknown, id = 'c1') => ({
  id,
  type: 'function',
  function: { name: 'run', arguments: given },
});
const turn = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = { role: 'tool', tool_call_id: 'c1', content: '1' };

describe('The reader of returned arguments', () => {
  test.each<[unknown, string]>([
    ['{"code": ', '{"name": "run", "arguments": {"code": }'],
    ['[1]', '{"name": "run", "arguments": [1]}'],
    ['null', '{"name": "run", "arguments": null}'],
    ['{"x": NaN}', '{"name": "run", "arguments": {"x": NaN}}'],
    [[1], '{"name": "run", "arguments": [1]}'],
    [7, '{"name": "run", "arguments": 7}'],
  ])('keeps %j, which is not an object, as it was written', (given, text) => {
    const [message, answer] = messagesOf([turn(called(given), called('{}', 'c2')), result]);
    expect(message).toMatchObject({
      content: '',
      malformedCalls: [{ text }],
      toolCalls: [{ name: 'run', arguments: {} }],
    });
    expect(answer).toEqual({ role: 'tool', content: '1', name: 'run', callId: 'call_0_0' });
  });

  test.each([undefined, null, ''])('reads %j as a call without arguments', (given) => {
    expect(messagesOf([turn(called(given))])[0]).toEqual({
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_0_0', name: 'run', arguments: {} }],
    });
  });
});

test('the reader ignores notes that clients leave in answers', () => {
  const call = called('{"code": "1"}');
  const noted = { ...call.function, parsed_arguments: { code: '1' } };
  const none = { parsed: null, refusal: null, audio: null, function_call: null };
  const dumped = { ...turn({ ...call, index: 0, function: noted }), ...none, annotations: [] };
  expect(messagesOf([dumped])).toEqual(messagesOf([turn(call)]));
});

const textPart = { type: 'text', text: 'a', role: 'assistant', reasoning_content: 'x' };
const refusalPart = { type: 'refusal', refusal: 'b' };
test.each([
  ['an empty turn', { content: null }, ''],
  ['a refusal', { content: null, refusal: 'No.' }, 'No.'],
  ['a part that holds the whole message', { content: [{ ...textPart, tool_calls: [{}] }] }, 'a'],
  ['parts', { content: [{ type: 'text', text: 'a' }, refusalPart] }, 'ab'],
])('%s from the assistant becomes a text', (_, message, content) => {
  const [read] = messagesOf([{ role: 'assistant', ...message }]);
  expect(read).toEqual({ role: 'assistant', content });
});

test('a developer message counts as the system, and a tool result without an id answers the next call', () => {
  const nameless = { ...called('{}'), id: undefined };
  const parts = ['1', '2'].map((text) => ({ type: 'text', text }));
  const messages = [
    { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
    turn(nameless, { ...nameless, function: { name: 'walk', arguments: '{}' } }),
    { role: 'tool', content: parts },
    { role: 'tool', content: '3' },
  ];
  expect(messagesOf(messages)).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { toolCalls: [{ id: 'call_0_0' }, { id: 'call_0_1' }] },
    { role: 'tool', content: '12', callId: 'call_0_0' },
    { role: 'tool', content: '3', callId: 'call_0_1' },
  ]);
});

test.each([
  [{ role: 'assistant', content: 'x', audio: {} }, /^messages\[0\]\.audio: is not supported/],
  [{ role: 'assistant', content: null, function_call: {} }, /^messages\[0\]\.function_call: is/],
  [{ role: 'function', name: 'run', content: '1' }, /^messages\[0\]\.role: must be one of/],
  [{ role: 'user', content: null }, /^messages\[0\]\.content: is missing/],
  [{ role: 'user', content: [{ type: 'file' }] }, /^messages\[0\]\.content: a part is not text/],
  [{ role: 'tool', tool_call_id: 'c9', content: '1' }, /^messages\[0\]\.tool_call_id: is "c9"/],
  [turn({ type: 'custom', custom: { name: 'f' } }), /^messages\[0\]\.tool_calls\[0\]/],
])('a message %j is refused with its path', (message, problem) => {
  const refused = { status: 400, message: expect.stringMatching(problem) };
  expect(() => messagesOf([message])).toThrow(expect.objectContaining(refused));
});
