import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { RunRecords } from '#agent_rl/runs/run-records.ts';
import { createLog } from '#agent_rl/telemetry/create-log.ts';
import { never, options, setUp } from '../support/grpo-trainer-setup.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { played } from '../support/rollouts.ts';

const folder = runFolderAt(temporaryFolder());

test('an iteration of 200,000 episodes is trained on, counted and recorded', async () => {
  const log = createLog({ level: 'error', file: folder.log, console: 'none' });
  const records = new RunRecords({ folder, log, logRollouts: false });
  const { trainer, metrics } = setUp(
    // Of each eight, one succeeds and one fails by no fault of the policy.
    ({ key: { sample } }) =>
      played({
        prompt: 1,
        sampled: 2,
        reward: sample === 0 ? 1 : 0,
        ...(sample === 1 && { outcome: 'infrastructure-error' }),
      }),
    {
      rollout: { ...options.rollout, tasksPerStep: 25_000, groupSize: 8 },
      algorithm: { ...options.algorithm, microBatchTokens: 10_000 },
      train: { ...options.train, iterations: 1 },
    },
    { iteration: records.on },
  );
  await trainer.train(never);
  records.close();
  expect(metrics[0]).toMatchObject({
    'rollout/episodes': 200_000,
    'rollout/lengthMax': 2,
    'ledger/trained': 2 * 175_000,
    'ledger/infrastructure': 2 * 25_000,
  });
  const lines = readFileSync(join(folder.trajectories, 'train.jsonl'), 'utf8').split('\n');
  expect(lines).toHaveLength(200_001);
});
