import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { SessionJournal } from '#agent_rl/runs/journal/session-journal.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { RunRecords } from '#agent_rl/runs/run-records.ts';
import { createLog } from '#agent_rl/telemetry/create-log.ts';
import { never, options, setUp } from '../support/grpo-trainer-setup.ts';
import { episodesIn } from '../support/journal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { played } from '../support/rollouts.ts';

const folder = runFolderAt(temporaryFolder());

test('an iteration of 200,000 episodes is trained on, counted and recorded', async () => {
  const log = createLog({ level: 'error', file: folder.log, console: 'none' });
  const records = new RunRecords({ folder, log, logRollouts: false });
  const config = loadConfig({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
  }).config;
  const begun = { folder, log, config, iteration: undefined, changed: [] };
  const journal = await SessionJournal.open(begun);
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
    {
      rollout: ({ rollout }) => journal.run.ended(rollout),
      iteration: (event) => {
        records.on(event);
        journal.on(event);
      },
    },
  );
  await trainer.train(never);
  records.close();
  await journal.close();
  expect(metrics[0]).toMatchObject({
    'rollout/episodes': 200_000,
    'rollout/lengthMax': 2,
    'ledger/trained': 2 * 175_000,
    'ledger/infrastructure': 2 * 25_000,
  });
  expect(await episodesIn(folder.path, 'train')).toHaveLength(200_000);
});
