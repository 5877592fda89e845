import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { truncateAfter } from '#agent_rl/runs/truncate-after.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const root = temporaryFolder();

test('metrics after an iteration are cut off, whatever characters they hold', () => {
  const line = (iteration: number): string => `{"iteration": ${iteration}, "said": "a\u2028b ü"}\n`;
  const file = writeBelow(root, 'metrics.jsonl', [1, 2, 3].map(line).join(''));
  truncateAfter(runFolderAt(root), 2);
  expect(readFileSync(file, 'utf8')).toBe([1, 2].map(line).join(''));
});

test('a last line that was cut short goes too', () => {
  writeBelow(root, 'metrics.jsonl', '{"iteration": 1}\n{"iteration": 2}');
  expect(truncateAfter(runFolderAt(root), 5)).toEqual([
    `${join(root, 'metrics.jsonl')}: removed the incomplete last line.`,
  ]);
  expect(readFileSync(join(root, 'metrics.jsonl'), 'utf8')).toBe('{"iteration": 1}\n');
  expect(truncateAfter(runFolderAt(root), 5)).toEqual([]);
});

test('all metrics go before the first iteration', () => {
  const file = writeBelow(root, 'metrics.jsonl', '{"iteration": 1}\n');
  truncateAfter(runFolderAt(root), -1);
  expect(readFileSync(file, 'utf8')).toBe('');
});

test('a run without metrics has nothing to cut', () => {
  expect(truncateAfter(runFolderAt(join(root, 'nowhere')), 2)).toEqual([]);
});

test.each([
  ['half a line', '{"iteration": 2, "rollout/e'],
  ['an invalid record', '[1, 2]'],
  ['a record of no iteration', '{"when": "before"}'],
  ['zeros that a power cut left', '\u0000\u0000\u0000'],
])('%s between whole ones is refused with its place, and nothing is cut', (_, text) => {
  const whole = `{"iteration": 1}\n${text}\n{"iteration": 3}\n`;
  const file = writeBelow(root, 'metrics.jsonl', whole);
  const { code, message } = thrownBy(() => truncateAfter(runFolderAt(root), 5));
  expect(code).toBe('CHECKPOINT_INVALID');
  expect(message).toContain(`${file}:2 is not a record of the run (`);
  expect(message).toContain('delete the line: the metrics of one iteration are lost');
  expect(readFileSync(file, 'utf8')).toBe(whole);
});
