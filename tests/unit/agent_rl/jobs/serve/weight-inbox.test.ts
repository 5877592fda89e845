import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { afterEach, expect, test } from '@jest/globals';

import { WeightInbox } from '#agent_rl/jobs/serve/training/weight-inbox.ts';

const opened: WeightInbox[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((inbox) => inbox.close()));
});

const open = async (): Promise<WeightInbox> => {
  const inbox = await WeightInbox.open(100);
  opened.push(inbox);
  return inbox;
};
const of = (bytes: number) => Readable.from([Buffer.alloc(bytes, 'x')]);
const sha256 = (bytes: number) => createHash('sha256').update('x'.repeat(bytes)).digest('hex');
const weights = { 'model.safetensors': sha256(60) };

test('files of weights are kept until they are forgotten', async () => {
  const inbox = await open();
  await inbox.put('one', 'model.safetensors', of(60));
  await inbox.put('one', 'config.json', of(40));
  const files = { ...weights, 'config.json': sha256(40) };
  const folder = inbox.whole('one', files);
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('x'.repeat(40));
  await inbox.forget('one');
  expect(existsSync(folder)).toBe(false);
});

test('a file of another name is refused, and so is more than the model has, in one file or in several', async () => {
  const inbox = await open();
  await expect(inbox.put('one', 'extra.bin', of(1))).rejects.toMatchObject({ status: 400 });
  await inbox.put('one', 'model.safetensors', of(60));
  const more = inbox.put('one', 'config.json', of(41));
  await expect(more).rejects.toMatchObject({ status: 413 });
  const folder = inbox.whole('one', weights);
  expect(readdirSync(folder)).toEqual(['model.safetensors']);
  // One that replaces another does not count twice.
  await inbox.put('one', 'model.safetensors', of(90));
});

test('files from another client are forgotten, and an empty list of files is refused', async () => {
  const inbox = await open();
  await inbox.put('one', 'model.safetensors', of(60));
  const folder = inbox.whole('one', weights);
  await inbox.put('other', 'model.safetensors', of(60));
  expect(existsSync(folder)).toBe(false);
  expect(() => inbox.whole('one', weights)).toThrow(/arrived damaged/);
  expect(() => inbox.whole('one', {})).toThrow(/files: is empty/);
});
