import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { runWithEpisodes } from '#agent_rl/runs/episodes/read-episodes.ts';
import { readMetrics } from '#agent_rl/runs/query/metrics.ts';
import { recordedRun } from '#agent_rl/runs/query/recorded-run.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const root = temporaryFolder();

test('a run that is still going has its settings and no summary', () => {
  writeBelow(root, 'going/config.yaml', 'run: {seed: 3}\n');
  const { config, inputs, summary } = recordedRun(`${root}/going`);
  expect([config, inputs, summary]).toEqual([{ run: { seed: 3 } }, undefined, undefined]);
});

test('a folder without config.yaml is refused with what to give', () => {
  const folder = join(root, 'empty', 'folder');
  mkdirSync(folder, { recursive: true });
  const { code, message } = thrownBy(() => recordedRun(folder));
  expect([code, message]).toEqual([
    'CHECKPOINT_INVALID',
    `${folder} is not a run folder: it has no config.yaml. Give a run folder, such as runs/NAME.`,
  ]);
});

test('a missing folder is reported with the runs beside it', () => {
  const near = join(root, 'near');
  writeBelow(near, 'runs/one/config.yaml', 'run: {}\n');
  writeBelow(near, 'runs/two/config.yaml', 'run: {}\n');
  writeBelow(near, 'runs/three/other.txt', '');
  const gone = join(near, 'runs', 'gone');
  const wanted = {
    code: 'CHECKPOINT_INVALID',
    message: `There is no folder ${gone}. The runs in ${join(near, 'runs')} are one, two.`,
  };
  expect(thrownBy(() => recordedRun(gone))).toMatchObject(wanted);
  expect(thrownBy(() => runWithEpisodes(gone))).toMatchObject(wanted);
  expect(thrownBy(() => recordedRun(join(near, 'one'))).message).toContain('are one, two.');
  const elsewhere = thrownBy(() => recordedRun(join(near, 'nowhere', 'gone')));
  expect(elsewhere.message).toMatch(/\. Give a run folder, such as runs\/NAME\.$/);
});

test('a summary that was cut short is named', () => {
  writeBelow(root, 'torn/config.yaml', 'run: {}\n');
  writeBelow(root, 'torn/summary.json', '{"seed": 3');
  const { code, message } = thrownBy(() => recordedRun(`${root}/torn`));
  expect(code).toBe('CHECKPOINT_INVALID');
  expect(message).toContain(`${root}/torn/summary.json cannot be read`);
});

test('metrics keep numbers that JSON lacks, and a torn last line is left out', async () => {
  writeBelow(
    root,
    'metrics.jsonl',
    '{"iteration": 1, "train/loss": "NaN"}\n{"iteration": 2, "train/loss": 0.5}\n{"iteration": 3, "tra',
  );
  expect(await readMetrics(runFolderAt(root))).toEqual([
    { iteration: 1, metrics: { 'train/loss': Number.NaN } },
    { iteration: 2, metrics: { 'train/loss': 0.5 } },
  ]);
});

test('an invalid line between others is refused with its place', async () => {
  writeBelow(root, 'bad/metrics.jsonl', '{"iteration": 1}\n[]\n{"iteration": 3}\n');
  const { code, message } = await rejectionOf(readMetrics(runFolderAt(`${root}/bad`)));
  expect([code, message]).toEqual([
    'DATASET_INVALID',
    `${root}/bad/metrics.jsonl:2 cannot be read: it holds no metrics. Restore the line: line numbers matter.`,
  ]);
});
