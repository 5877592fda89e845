import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import type { Generation } from '#agent_rl/core/services/generator.ts';
import { RunGenerations } from '#agent_rl/runs/generations/run-generations.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const root = temporaryFolder();

const drawn = (token: number): Generation => ({
  tokens: [token],
  logProbs: [-0.1],
  stop: 'max-tokens',
  version: 3,
});

const opened = (name: string, iteration: number, keep = true) =>
  RunGenerations.open(join(root, name), { iteration, keep });

test('a generation is given once to a later session', async () => {
  const { generations: first } = await opened('once', 2);
  first.keep('a', drawn(5));
  first.keep('b', drawn(6));
  // The session ended without a word.
  const { generations: second, unreadable } = await opened('once', 2);
  expect([second.held, unreadable]).toEqual([2, []]);
  const taken = ['a', 'a', 'c'].map((name) => second.take(name));
  expect(taken).toEqual([drawn(5), undefined, undefined]);
  expect(second.held).toBe(1);
});

test('a line cut short is left out, and what is drawn later is whole', async () => {
  const { generations: first } = await opened('torn', 0);
  first.keep('a', drawn(5));
  first.close();
  appendFileSync(join(root, 'torn', 'after-0-0.jsonl'), '{"asked":"b","drawn":{"tok');
  const { generations: second } = await opened('torn', 0);
  second.keep('c', drawn(7));
  const { generations: third } = await opened('torn', 0);
  const taken = ['a', 'b', 'c'].map((name) => third.take(name));
  expect(taken).toEqual([drawn(5), undefined, drawn(7)]);
});

test('an invalid line is named and not given', async () => {
  const { generations: first } = await opened('wrong', 0);
  first.keep('a', { ...drawn(5), logProbs: [Number.NaN] });
  first.keep('b', drawn(6));
  const { generations, unreadable } = await opened('wrong', 0);
  expect(unreadable).toEqual([`${join(root, 'wrong', 'after-0-0.jsonl')}:1`]);
  expect([generations.take('a'), generations.take('b')]).toEqual([undefined, drawn(6)]);
});

test('generations before the oldest checkpoint are deleted', async () => {
  const folder = join(root, 'pruned');
  const { generations } = await opened('pruned', 0);
  generations.keep('a', drawn(5));
  generations.checkpointed(1, 1);
  generations.keep('b', drawn(6));
  generations.checkpointed(2, 1);
  generations.keep('c', drawn(7));
  expect(readdirSync(folder).toSorted()).toEqual(['after-1-0.jsonl', 'after-2-0.jsonl']);
  const { generations: later } = await opened('pruned', 1);
  const taken = ['a', 'b', 'c'].map((name) => later.take(name));
  expect(taken).toEqual([undefined, drawn(6), drawn(7)]);
});

test('generations that are not to be kept are deleted, and a run that has ended leaves none', async () => {
  const { generations: first } = await opened('other', 0);
  first.keep('a', drawn(5));
  const { generations: second } = await opened('other', 0, false);
  expect(second.take('a')).toBeUndefined();
  second.close();
  second.delete();
  expect(existsSync(join(root, 'other'))).toBe(false);
});
