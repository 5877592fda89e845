import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { truncateAfter } from '#agent_rl/runs/truncate-after.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

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
  await truncateAfter(runFolderAt(root), 5);
  expect(readFileSync(join(root, 'metrics.jsonl'), 'utf8')).toBe('{"iteration": 1}\n');
});
