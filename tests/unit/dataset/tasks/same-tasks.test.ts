import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { sameTasks } from '#dataset/tasks/same-tasks.ts';

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

test('The held-out code tasks are those of version 0.1, but for the name of a field', () => {
  const text = readFileSync(join(packageRoot(), 'dataset', 'code_tasks', 'eval.jsonl'), 'utf8');
  const then = text.replaceAll('"slice":', '"apart":');
  expect(then).not.toBe(text);
  expect(sameTasks(sha256Of(then), sha256Of(text))).toBe(true);
  expect(sameTasks(sha256Of(text), sha256Of(then))).toBe(false);
  expect(sameTasks(sha256Of(then), sha256Of(`${text}\n`))).toBe(false);
});

test('Any other file holds the same tasks only where its bytes are the same', () => {
  expect(sameTasks('a', 'a')).toBe(true);
  expect(sameTasks('a', 'b')).toBe(false);
  expect(sameTasks('toString', 'b')).toBe(false);
});
