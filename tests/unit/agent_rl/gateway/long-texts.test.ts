import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { LongTexts } from '#agent_rl/gateway/sampling/long-texts.ts';
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

const encoded = (text: string): readonly number[] =>
  model.encodePieces([{ source: 'user', text }]).flatMap(({ tokens }) => tokens);

test('the thread encodes long texts exactly like the main thread', async () => {
  const { tokenizer } = model;
  const made: number[] = [];
  const ids = await texts.whole(() => {
    made.push(made.length);
    return [model.encodeText(`${words}<|im_end|>`), encoded(words), encoded('short <|im_end|>')];
  }, signal);
  expect(ids).toEqual([
    tokenizer.encodeTemplate(`${words}<|im_end|>`),
    tokenizer.encodePlain(words),
    tokenizer.encodePlain('short <|im_end|>'),
  ]);
  expect(made).toEqual([0, 1]);
});

test('a long text of the template is cached after a thread encoded it', async () => {
  const long = 'All of it. '.repeat(1000);
  const pieces = [{ source: 'template', text: long }] as const;
  const encode = () => model.encodePieces(pieces).flatMap(({ tokens }) => tokens);
  expect(await texts.whole(encode, signal)).toEqual(model.tokenizer.encodePlain(long));
  expect(encode()).toEqual(model.tokenizer.encodePlain(long));
});

test('a timer keeps running while a thread encodes a text for a second, and an abort stops the thread', async () => {
  const endless = `x${' '.repeat(4_000_000)}x`;
  const gone = new AbortController();
  const encoding = texts.whole(() => encoded(endless), gone.signal);
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 5);
  await new Promise((resolve) => setTimeout(resolve, 200));
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  gone.abort(new Error('left'));
  await expect(encoding).rejects.toThrow('left');
  const again = await texts.whole(() => encoded(words), signal);
  expect(again).toEqual(model.tokenizer.encodePlain(words));
});
