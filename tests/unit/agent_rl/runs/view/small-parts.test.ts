import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { settingDifferences } from '#agent_rl/runs/flat-settings.ts';
import { exportName } from '#agent_rl/runs/view/export-name.ts';
import { textsOf } from '#agent_rl/runs/view/episodes/token-texts.ts';
import { MetricHistory } from '#agent_rl/runs/view/metric-columns.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

describe('The file of an exported answer', () => {
  test.each([
    ['/api/runs', 'api/runs.js'],
    ['/api/runs/a-1/episodes/train/3/0/17/2', 'api/runs/a-1/episodes/train/3/0/17/2.js'],
    ['/api/runs/a/timeline?iteration=3', 'api/runs/a/timeline/iteration~3d3.js'],
    ['/api/tasks/..%2F..%2Fetc', 'api/tasks/~2e~2e~252~46~2e~2e~252~46etc.js'],
    ['/api/runs/A/episodes/../..', 'api/runs/~41/episodes/~2e~2e/~2e~2e.js'],
  ])('is named after its request %s', (request, file) => {
    expect(exportName(request)).toBe(file);
  });

  test('has a short name, which differs for each long request', () => {
    const [one, other] = ['a', 'b'].map((last) => exportName(`/api/${'x'.repeat(5000)}${last}`));
    expect(one).toMatch(/^api\/x{86}~~[a-z0-9]{12}\.js$/);
    expect(one).not.toBe(other);
  });
});

test('metrics are read on, by column, with descriptions; numbers that JSON lacks are texts', async () => {
  const metrics = join(folder, 'metrics.jsonl');
  const history = new MetricHistory({ metrics });
  expect(await history.after(0)).toMatchObject({ iterations: [], columns: {} });
  writeFileSync(metrics, '{"iteration":1,"train/loss":"NaN"}\n');
  appendFileSync(metrics, '{"iteration":2,"train/loss":0.5,"rollout/episodes":8}\n{"iter');
  expect(await history.after(-Infinity)).toMatchObject({
    iterations: [1, 2],
    columns: { 'train/loss': ['NaN', 0.5], 'rollout/episodes': [null, 8] },
    units: { 'rollout/episodes': 'episodes' },
    meanings: { 'train/loss': 'Loss of the step' },
  });
  appendFileSync(metrics, 'ation":3,"train/loss":0.25}\n');
  const third = { iterations: [3], columns: { 'train/loss': [0.25] } };
  expect(await history.after(2)).toMatchObject(third);
  truncateSync(metrics, 35);
  expect((await history.after(0)).iterations).toEqual([1]);
});

test('metrics that a resume cut are read again, also where the file is longer than before', async () => {
  const metrics = join(folder, 'resumed.jsonl');
  const history = new MetricHistory({ metrics });
  const line = (iteration: number, loss: number) =>
    `${JSON.stringify({ iteration, 'train/loss': loss })}\n`;
  writeFileSync(metrics, line(1, 1) + line(2, 2));
  expect(await history.after(0)).toMatchObject({ columns: { 'train/loss': [1, 2] } });
  writeFileSync(metrics, line(1, 1) + line(2, 2.125) + line(3, 3));
  expect(await history.after(0)).toMatchObject({ columns: { 'train/loss': [1, 2.125, 3] } });
});

test('configs differ where a setting does', () => {
  const a = { train: { iterations: 2, betas: [1, 2] }, tools: [] };
  const b = { train: { iterations: 3, betas: [1, 2] }, tools: [{ type: 'x' }] };
  expect(settingDifferences(a, b)).toEqual([
    { path: 'tools', a: [] },
    { path: 'tools.0.type', b: 'x' },
    { path: 'train.iterations', a: 2, b: 3 },
  ]);
});

test('texts of tokens add up to the text, with parts of a character as bytes', async () => {
  const tokenizer = await Tokenizer.fromFolder(join(packageRoot(), 'model', 'starter'));
  const texts = textsOf(tokenizer);
  const shown = (ids: readonly number[]) => ids.map((id) => texts.of(id)).join('');
  expect(shown(tokenizer.encodePlain('two words'))).toBe('two words');
  // U+20AC is E2 82 AC in UTF-8; the small vocabulary has no token of it.
  expect(shown(tokenizer.encodePlain('\u20AC'))).toBe('<0xE2><0x82><0xAC>');
  expect(shown(tokenizer.encodeTemplate('<|im_start|>'))).toBe('<|im_start|>');
});
