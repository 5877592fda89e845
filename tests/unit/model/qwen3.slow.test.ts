import { createHash } from 'node:crypto';

import { expect, test } from '@jest/globals';

import { qwen3, qwen3Vectors } from '#tests/support/qwen3.ts';

const { template, tokenizer, endOfTurn, stopTokens } = await qwen3();
const { conversations, encodings } = qwen3Vectors();

test('Qwen3 renders every conversation as Python does', () => {
  expect(conversations.length).toBeGreaterThanOrEqual(50);
  const wrong = conversations.flatMap((one, index) => {
    const { messages, tools, enable_thinking: thinking, sha256, end } = one;
    const text = template.renderRaw(messages, tools, {
      addGenerationPrompt: one.add_generation_prompt,
      ...(thinking !== undefined && { thinking }),
    });
    const same = createHash('sha256').update(text).digest('hex') === sha256;
    return same ? [] : [{ index, text, end }];
  });
  expect(wrong).toEqual([]);
});

test('Qwen3 encodes every text as Python does, with control tokens and with them spelt out', () => {
  expect(encodings.length).toBeGreaterThanOrEqual(100);
  for (const { text, ids, plain = ids } of encodings) {
    expect([text, tokenizer.encodeTemplate(text)]).toEqual([text, ids]);
    expect([text, tokenizer.encodePlain(text)]).toEqual([text, plain]);
  }
});

test('Qwen3 decodes every text to its composed form', () => {
  for (const { text, ids, plain = ids } of encodings) {
    expect(tokenizer.decode(ids)).toBe(text.normalize('NFC'));
    expect(tokenizer.decode(plain)).toBe(text.normalize('NFC'));
  }
});

test('Qwen3 ends turns with <|im_end|> and has 151,669 tokens', () => {
  expect({ endOfTurn, stopTokens }).toEqual({ endOfTurn: '<|im_end|>', stopTokens: [151645] });
  expect(tokenizer.vocabularySize).toBe(151_669);
});
