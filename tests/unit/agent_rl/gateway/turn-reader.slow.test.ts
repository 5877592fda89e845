import { describe, expect, test } from '@jest/globals';

import type { ToolCallFormat } from '#agent_rl/core/plugins/tool-call-format.ts';
import { piecesOf, type Said } from '#agent_rl/gateway/sampling/pieces-of.ts';
import { saidIn } from '#agent_rl/gateway/turns/asked.ts';
import { TurnReader } from '#agent_rl/gateway/sampling/turn-reader.ts';
import {
  HermesFormat,
  Llama3Format,
  PlainFormat,
  PythonBlockFormat,
} from '#agent_rl/policies/tool-call-formats/index.ts';
import * as fc from '#tests/support/properties.ts';

const parameters = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] };
const tool = { name: 'run', description: 'Runs code.', parameters };

const formats: Readonly<Record<string, ToolCallFormat>> = {
  hermes: new HermesFormat(),
  llama3: new Llama3Format({ settings: {} }),
  'python-block': new PythonBlockFormat({ settings: {} }),
  plain: new PlainFormat(),
};

/** What models write, whole and in parts. */
const parts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('<think>', '</think>', '<tool_call>', '</tool_call>') },
  fc.constantFrom(
    '{"name": "run", "arguments": {"code": "1"}}',
    '{"name": "run", "parameters": {}}',
  ),
  fc.constantFrom('```python\n', '\n```\n', '```js\n', '<|python_tag|>', '"<think>"'),
  fc.constantFrom('<', '<tool', '_call>', '</', 'think>', '`', '``'),
  fc.constantFrom('{', '}', '"', '\n', ' ', '\uFFFD'),
  fc.constantFrom('It is 4.', 'a < b', ' c ', 'ü🙂'),
);

/** Pieces of a turn that comes in steps, and what they should be together. */
async function streamed(
  reader: TurnReader,
  steps: readonly string[],
  tools: readonly (typeof tool)[],
) {
  const said = (text: string): Said => {
    const message = reader.read(text, tools);
    return { reasoning: message.reasoning ?? '', content: saidIn(message) };
  };
  let text = '';
  const { texts, result } = piecesOf<Said>(
    async (onText) => {
      for (const step of steps) onText((text += step));
      await Promise.resolve();
      return said(text);
    },
    { soFar: (begun) => said(reader.settled(begun, tools)), whole: (whole) => whole },
  );
  const joined: Record<string, string> = { reasoning: '', content: '' };
  const order: string[] = [];
  for await (const piece of texts)
    for (const [name, more] of Object.entries(piece)) {
      joined[name] += more;
      order.push(name);
    }
  return { joined, order, whole: await result };
}

describe.each(Object.entries(formats))('A turn in the format %s', (_, format) => {
  test.each([
    ['tools', [tool]],
    ['no tools', []],
  ])('streams its whole content, with %s', async (_with, tools) => {
    const written = fc.array(parts, { maxLength: 14 });
    const equal = fc.asyncProperty(written, fc.boolean(), async (steps, inThought) => {
      const { joined, whole } = await streamed(new TurnReader(format, inThought), steps, tools);
      expect(joined).toEqual(whole);
    });
    await fc.assert(equal, { numRuns: 2000 });
  });
});

test('a thought is streamed piece by piece before the content', async () => {
  const steps = ['I ', 'think.', '</think>It ', 'is 4.', '<tool_call>{"name"'];
  const { joined, order } = await streamed(new TurnReader(new HermesFormat(), true), steps, [tool]);
  expect(order).toEqual(['reasoning', 'reasoning', 'content', 'content', 'content']);
  expect(joined).toEqual({ reasoning: 'I think.', content: 'It is 4.\n<tool_call>{"name"' });
});

class React implements ToolCallFormat {
  readonly opensCall?: readonly string[];
  constructor(...opensCall: readonly string[]) {
    if (opensCall.length > 0) this.opensCall = opensCall;
  }
  read({ text }: { text: string }) {
    const [content = '', call] = text.split('Action: ');
    const toolCalls = call === undefined ? [] : [{ id: 'call_0_0', name: call, arguments: {} }];
    return { role: 'assistant' as const, content: content.trim(), toolCalls };
  }
  print = () => '';
  fits = () => false;
}
const steps = ['Let me. ', 'Act', 'ion: ', 'run'];

test('a format of a plugin streams a turn only when it is whole if it does not name how calls begin', async () => {
  const { joined, order } = await streamed(new TurnReader(new React(), false), steps, [tool]);
  expect(order).toEqual(['content']);
  expect(joined['content']).toBe('Let me.');
});

test('a format of a plugin fails the stream if it names something else, and the message says what to name', async () => {
  const streaming = streamed(new TurnReader(new React('Call: '), false), steps, [tool]);
  await expect(streaming).rejects.toThrow(/to opensCall of the tool-call format/);
});

test('a format of a plugin streams text before a call if it names how calls begin', async () => {
  const { order } = await streamed(new TurnReader(new React('Action: '), false), steps, [tool]);
  expect(order).toEqual(['content']);
});
