import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { Transcript } from '#agent_rl/core/transcript.ts';
import { episodeText } from '#agent_rl/jobs/show/episode-text.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { batchesOf, type RecordedPart } from '#agent_rl/runs/query/parts.ts';
import { JsonlWriter } from '#agent_rl/telemetry/index.ts';
import { member } from '#tests/support/rollouts.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const trajectories = temporaryFolder();

test('the record of an agent with a loop of its own is read as it was written, and shown', async () => {
  const asked = new Transcript();
  asked.append('user', [1, 2]);
  asked.appendSampled([10, 11], [-0.5, -0.5], 3);
  const counts = { turns: 3, replayed: 1, delivered: 2 };
  const requests = { ...counts, drift: { thoughts: 2 }, ignored: { temperature: 3 } };
  const sequences = [asked.beginning(4, 2).record()];
  const lines = new JsonlWriter(join(trajectories, 'train.jsonl'));
  lines.write(trajectoryLine(member({ when: 'train', sequences, undelivered: 6, requests })));
  lines.write(trajectoryLine(member({ when: 'train', slot: 1 })));
  lines.close();

  const read: RecordedPart[] = [];
  for await (const parts of batchesOf({ trajectories }, { file: 'train' })) read.push(...parts);
  const [own, plain] = read.map(({ episode }) => episode);
  expect(own).toMatchObject({ sequences, undelivered: 6, requests });
  expect(own?.sequences[0]?.spans[1]).toMatchObject({ source: 'sampled', version: 3, turn: 2 });
  expect(plain).toMatchObject({ undelivered: 0 });
  expect(plain).not.toHaveProperty('requests');

  const [text, plainText] = [own!, plain!].map((episode) =>
    episodeText({ episode }, { hidden: false }),
  );
  expect(text).toContain(
    '  requests: 2 of 3 answers reached the agent; 1 sent again; 1 sequence; changed by the client: thoughts 2; without effect: temperature 3; never reached the agent: 6 sampled tokens',
  );
  expect(plainText).not.toMatch(/requests:|never reached/);
});
