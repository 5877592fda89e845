import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { runWithEpisodes } from '#agent_rl/runs/episodes/read-episodes.ts';
import { readMetrics } from '#agent_rl/runs/query/metrics.ts';
import { recordedRun } from '#agent_rl/runs/query/recorded-run.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const root = temporaryFolder();
const invalid = 'CHECKPOINT_INVALID';

test('a run that is still going has its settings and no summary', () => {
  writeBelow(root, 'going/config.yaml', 'run: {seed: 3}\n');
  const { config, inputs, summary } = recordedRun(`${root}/going`);
  expect([config, inputs, summary]).toEqual([{ run: { seed: 3 } }, undefined, undefined]);
});

test('a folder without config.yaml is refused with what to give', () => {
  const folder = join(root, 'empty', 'folder');
  mkdirSync(folder, { recursive: true });
  const message = `${folder} is not a run folder: it has no config.yaml. Give a run folder`;
  expect(thrownBy(() => recordedRun(folder))).toMatchObject(errorOf(invalid, message));
});

test('a missing folder is reported with the runs beside it', () => {
  const near = join(root, 'near');
  for (const file of ['one/config.yaml', 'two/config.yaml', 'three/other.txt'])
    writeBelow(near, `runs/${file}`, 'run: {}\n');
  const gone = join(near, 'runs', 'gone');
  const message = `There is no folder ${gone}. The runs in ${join(near, 'runs')} are one, two.`;
  const wanted = { code: invalid, message };
  expect(thrownBy(() => recordedRun(gone))).toMatchObject(wanted);
  expect(thrownBy(() => runWithEpisodes(gone))).toMatchObject(wanted);
  expect(thrownBy(() => recordedRun(join(near, 'one'))).message).toContain('are one, two.');
  const elsewhere = thrownBy(() => recordedRun(join(near, 'nowhere', 'gone')));
  expect(elsewhere.message).toMatch(/\. Give a run folder, such as runs\/NAME\.$/);
});

test('a summary that was cut short is named', () => {
  writeBelow(root, 'torn/config.yaml', 'run: {}\n');
  writeBelow(root, 'torn/summary.json', '{"seed": 3');
  const refused = errorOf(invalid, `${root}/torn/summary.json cannot be read`);
  expect(thrownBy(() => recordedRun(`${root}/torn`))).toMatchObject(refused);
});

test('metrics keep numbers that JSON lacks, and a torn last line is left out', async () => {
  const lines = ['{"iteration": 1, "train/loss": "NaN"}', '{"iteration": 2, "train/loss": 0.5}'];
  writeBelow(root, 'metrics.jsonl', [...lines, '{"iteration": 3, "tra'].join('\n'));
  expect(await readMetrics(runFolderAt(root))).toEqual([
    { iteration: 1, metrics: { 'train/loss': Number.NaN } },
    { iteration: 2, metrics: { 'train/loss': 0.5 } },
  ]);
});

test('an invalid line between others is refused with its place', async () => {
  writeBelow(root, 'bad/metrics.jsonl', '{"iteration": 1}\n[]\n{"iteration": 3}\n');
  const message = `${root}/bad/metrics.jsonl:2 cannot be read: it holds no metrics.`;
  const refused = errorOf('DATASET_INVALID', message);
  await expect(readMetrics(runFolderAt(`${root}/bad`))).rejects.toMatchObject(refused);
});
