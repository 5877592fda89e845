import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { truncateAfter } from '#agent_rl/runs/truncate-after.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const root = temporaryFolder();

test('records after an iteration are cut off, whatever characters they hold', async () => {
  const line = (iteration: number): string => `{"iteration": ${iteration}, "said": "a\u2028b ü"}\n`;
  writeBelow(root, 'metrics.jsonl', [1, 2, 3].map(line).join(''));
  writeBelow(root, 'trajectories/train.jsonl', [1, 1, 2, 2, 3].map(line).join(''));
  writeBelow(root, 'trajectories/eval.jsonl', line(0));
  await truncateAfter(runFolderAt(root), 2);
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  expect(read('metrics.jsonl')).toBe([1, 2].map(line).join(''));
  expect(read('trajectories/train.jsonl')).toBe([1, 1, 2, 2].map(line).join(''));
  expect(read('trajectories/eval.jsonl')).toBe(line(0));
});

test('an evaluation after training goes, since the run that goes on makes it again', async () => {
  const line = (when: string, iteration: number): string =>
    `${JSON.stringify({ when, iteration })}\n`;
  const kept = line('before', 0) + line('during', 2);
  writeBelow(root, 'trajectories/eval.jsonl', kept + line('after', 2) + line('after', 2));
  await truncateAfter(runFolderAt(root), 2);
  expect(readFileSync(join(root, 'trajectories/eval.jsonl'), 'utf8')).toBe(kept);
});

test('a last line that was cut short goes too', async () => {
  writeBelow(root, 'metrics.jsonl', '{"iteration": 1}\n{"iteration": 2}');
  expect(await truncateAfter(runFolderAt(root), 5)).toEqual([
    `${join(root, 'metrics.jsonl')}: removed the incomplete last line.`,
  ]);
  expect(readFileSync(join(root, 'metrics.jsonl'), 'utf8')).toBe('{"iteration": 1}\n');
  expect(await truncateAfter(runFolderAt(root), 5)).toEqual([]);
});

test('all records go before the first iteration, the evaluation before it included', async () => {
  writeBelow(root, 'metrics.jsonl', '{"iteration": 1}\n');
  writeBelow(root, 'trajectories/eval.jsonl', '{"when": "before", "iteration": 0}\n');
  await truncateAfter(runFolderAt(root), -1);
  for (const name of ['metrics.jsonl', 'trajectories/eval.jsonl'])
    expect(readFileSync(join(root, name), 'utf8')).toBe('');
});

test.each([
  ['metrics.jsonl', 'delete the line; the metrics of one iteration are lost.'],
  ['trajectories/train.jsonl', 'together with the line of the same episode in learned.jsonl'],
  ['trajectories/learned.jsonl', 'together with the line of the same episode in train.jsonl'],
])('a line of %s is to be deleted only with its counterpart', async (name, advice) => {
  const folder = join(root, `damaged-${name.replaceAll('/', '-')}`);
  const file = writeBelow(folder, name, '[]\n{"iteration": 3}\n');
  const { message } = await rejectionOf(truncateAfter(runFolderAt(folder), 5));
  expect(message).toContain(`${file}:1 is not a record of the run`);
  expect(message).toContain(advice);
});

test.each([
  ['half a line', '{"iteration": 2, "rollout/e'],
  ['an invalid record', '[1, 2]'],
  ['a record of no iteration', '{"when": "before"}'],
  ['zeros that a power cut left', '\u0000\u0000\u0000'],
])('%s between whole ones is refused with its place, and nothing is cut', async (_, text) => {
  const whole = `{"iteration": 1}\n${text}\n{"iteration": 3}\n`;
  const file = writeBelow(root, 'metrics.jsonl', whole);
  const refused = errorOf('CHECKPOINT_INVALID', `${file}:2 is not a record of the run (`);
  await expect(truncateAfter(runFolderAt(root), 5)).rejects.toMatchObject(refused);
  expect(readFileSync(file, 'utf8')).toBe(whole);
});
