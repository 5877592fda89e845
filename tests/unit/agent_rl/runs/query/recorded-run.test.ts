import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { requireReadable, runWithEpisodes } from '#agent_rl/runs/episodes/read-episodes.ts';
import { readMetrics } from '#agent_rl/runs/query/metrics.ts';
import { recordedRun } from '#agent_rl/runs/query/recorded-run.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';
import { episodeText } from '#agent_rl/jobs/show/episode-text.ts';
import { batchesOf } from '#agent_rl/runs/query/parts.ts';
import { journalSchema } from '#agent_rl/runs/journal/sessions.ts';
import { episodesIn, writeJournal } from '#tests/support/journal.ts';
import { played } from '#tests/support/rollouts.ts';

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

test('the record of an agent with a loop of its own is read as it was written, and shown', async () => {
  const asked = new Transcript();
  asked.append('user', [1, 2]);
  asked.appendSampled([10, 11], [-0.5, -0.5], 3);
  const counts = { turns: 3, replayed: 1, delivered: 2 };
  const requests = { ...counts, drift: { thoughts: 2 }, ignored: { temperature: 3 } };
  const sequences = [asked.beginning(4, 2).record()];
  const run = join(root, 'own-loop');
  writeJournal(run, {
    rollouts: [
      played({ when: 'train', sequences, undelivered: 6, requests }),
      played({ when: 'train', slot: 1 }),
    ],
  });
  const [own, plain] = await episodesIn(run, 'train');
  expect(own).toMatchObject({ sequences, undelivered: 6, requests });
  expect(own?.sequences[0]?.spans[1]).toMatchObject({ source: 'sampled', version: 3, turn: 2 });
  expect(plain).toMatchObject({ undelivered: 0 });
  expect(plain?.requests).toBeUndefined();

  const [text, plainText] = [own!, plain!].map((episode) =>
    episodeText({ episode }, { hidden: false }),
  );
  expect(text).toContain(
    '  requests: 2 of 3 answers reached the agent; 1 sent again; 1 sequence; changed by the client: thoughts 2; without effect: temperature 3; never reached the agent: 6 sampled tokens',
  );
  expect(plainText).not.toMatch(/requests:|never reached/);
});

describe('The reader of episodes', () => {
  const folder = join(root, 'of-a-schema');
  const others = [journalSchema + 1, journalSchema - 1, 1.5, '2', undefined];

  test.each(others)(
    'refuses a journal of schema %j, also before a run is continued',
    async (schema) => {
      writeJournal(folder, { rollouts: [played({ when: 'train' })], session: { schema } });
      const from = runFolderAt(folder);
      const age = Number(schema) > journalSchema ? 'a newer' : 'an older';
      const refused = errorOf(
        'DATASET_INVALID',
        new RegExp(
          `^${from.journal} was recorded by ${age} version, .*this version reads ${journalSchema}`,
        ),
      );
      expect(await rejectionOf(requireReadable(from))).toMatchObject(refused);
      const reading = batchesOf(from, { file: 'train' }).next();
      expect(await rejectionOf(reading)).toMatchObject(refused);
    },
  );
});
