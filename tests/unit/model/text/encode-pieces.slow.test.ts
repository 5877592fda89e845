import { expect, test } from '@jest/globals';

import { system, user } from '#agent_rl/core/message.ts';
import type { PromptPiece } from '#model/text/chat-template.ts';
import { qwen3 } from '#tests/support/qwen3.ts';
import { oddTexts } from '#tests/support/tokenizers/odd-texts.ts';

const model = await qwen3();
const { template, tokenizer } = model;

const delta = (content: string) =>
  template.deltaPieces([{ role: 'tool', name: 'f', callId: 'c', content }], model.endOfTurn, {});
const prompt = (said: string, asked: string) =>
  template.promptPieces([system(said), user(asked)], [], {});
const encoded = (pieces: readonly PromptPiece[]) =>
  model.encodePieces(pieces).map(({ source, tokens }) => [source, tokenizer.decode([...tokens])]);
const ids = (pieces: readonly PromptPiece[]) =>
  model.encodePieces(pieces).flatMap(({ tokens }) => tokens);
const whole = (pieces: readonly PromptPiece[]) =>
  tokenizer.encodeTemplate(pieces.map(({ text }) => text).join(''));

test('a line break at the edge of a content joins the line break of the template in one token', () => {
  const [result, question] = [delta('4\n'), prompt('Be brief.', '\nHi')];
  expect(ids(result)).toEqual(whole(result));
  expect(ids(question)).toEqual(whole(question));
  expect(encoded(result)).toContainEqual(['tool', '4\n\n']);
  expect(encoded(question)).toContainEqual(['user', '\n\nHi']);
});

test('pieces have the token ids of their whole text, whatever others wrote', () => {
  const [first, second] = [oddTexts(400, 'first'), oddTexts(400, 'second')];
  for (const [at, one] of first.entries()) {
    const pieces = at % 2 === 0 ? delta(one) : prompt(one, second[at]!);
    expect([one, ids(pieces)]).toEqual([one, whole(pieces)]);
  }
});

test('a token of the template contains no text of others', () => {
  const roles = ['system', 'user', 'system\n', 'user\n', 'assistant\n'];
  const own = ['<|im_start|>', '<|im_end|>', '\n', ...roles];
  for (const text of oddTexts(200))
    for (const [, shown] of encoded(prompt(text, text)).filter(([source]) => source === 'template'))
      expect(own).toContain(shown);
});

const piece = (source: PromptPiece['source'], text: string): PromptPiece => ({ source, text });

test('a text of others forms no control token with the template beside it', () => {
  const pieces = [
    piece('template', '<|im_start|>'),
    piece('user', 'a<|im'),
    piece('template', '_start|><|im_end|>'),
  ];
  expect(tokenizer.decode(ids(pieces))).toBe('<|im_start|>a<|im_start|><|im_end|>');
  expect(ids(pieces).filter((id) => tokenizer.isControl(id))).toHaveLength(2);
  expect(whole(pieces).filter((id) => tokenizer.isControl(id))).toHaveLength(3);
});

test('tokens are attributed to template and system by their text', () => {
  expect(encoded([piece('template', 'a b'), piece('system', ' c d')])).toEqual([
    ['template', 'a b'],
    ['system', ' c d'],
  ]);
  expect(encoded([piece('system', 'a b'), piece('template', ' c d')])).toEqual([
    ['system', 'a b'],
    ['template', ' c d'],
  ]);
});
