import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { LongTexts } from '#agent_rl/jobs/serve/long-texts.ts';
import { type LanguageModel, openLanguageModelFolder } from '#model/text/language-model.ts';

const folder = join(packageRoot(), 'model', 'starter');
const signal = new AbortController().signal;
let model: LanguageModel;
let texts: LongTexts;

beforeAll(async () => {
  model = await openLanguageModelFolder(folder);
  texts = new LongTexts(model, folder, 60);
});
afterAll(() => texts.close());

const words = 'A word, <|im_end|> and <think>. '.repeat(400);

test('long texts are encoded in a thread, as they would be here', async () => {
  const { tokenizer } = model;
  const made: number[] = [];
  const pieces = await texts.whole(() => {
    made.push(made.length);
    return (['template', 'user', 'template'] as const).map((source, place) =>
      model.encodePiece({ source, text: place === 2 ? 'short <|im_end|>' : words }),
    );
  }, signal);
  expect(pieces).toEqual([
    tokenizer.encodeTemplate(words),
    tokenizer.encodePlain(words),
    tokenizer.encodeTemplate('short <|im_end|>'),
  ]);
  expect(made).toEqual([0, 1]);
});

test('what is done without it is done at once', () => {
  const { tokenizer } = model;
  const piece = { source: 'user', text: words } as const;
  expect(model.encodePiece(piece)).toEqual(tokenizer.encodePlain(words));
});

test('a timer runs on while a text is encoded that takes a second, and whoever leaves ends it', async () => {
  const endless = `x${' '.repeat(4_000_000)}x`;
  const gone = new AbortController();
  const encoding = texts.whole(
    () => model.encodePiece({ source: 'user', text: endless }),
    gone.signal,
  );
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 5);
  await new Promise((resolve) => setTimeout(resolve, 200));
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  gone.abort(new Error('left'));
  await expect(encoding).rejects.toThrow('left');
  const again = await texts.whole(() => model.encodePiece({ source: 'user', text: words }), signal);
  expect(again).toEqual(model.tokenizer.encodePlain(words));
});
