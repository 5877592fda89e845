import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { loadConfig, type SettingOrigins } from '#agent_rl/config/index.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { sourcesOf } from '#agent_rl/jobs/train/trainer-options.ts';
import { OpenRun } from '#agent_rl/runs/open-run.ts';
import { RunRecords } from '#agent_rl/runs/run-records.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { played } from '#tests/support/rollouts.ts';

/** What these settings decide is not seen by the trainer: the other test of all settings only sees them handed over. */
const outputDir = temporaryFolder();
const file = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
const model = { layers: { base: join(packageRoot(), 'model', 'starter'), adapters: [] } };

/** What a run with these settings is opened with. */
const optionsWith = (...overrides: string[]) => {
  const given = [`run.outputDir=${outputDir}`, ...overrides];
  const { config } = loadConfig({ file, overrides: given });
  const chosen = { environments: [], taskGenerators: [], tools: [] };
  const parts = { config, chosen, model, policies: new Map() };
  const sources = sourcesOf(parts as unknown as Parameters<typeof sourcesOf>[0]);
  return { config, file, origins: {}, sources };
};

/** Folder and log of a run in which an episode was played and something was said at every level. */
async function runWith(...overrides: string[]) {
  const options = optionsWith(...overrides);
  const record = await OpenRun.open(options);
  const { folder, log } = record;
  const records = new RunRecords({ folder, log, logRollouts: options.config.run.logRollouts });
  records.on({ type: 'rollout', rollout: played({ taskId: 'task-of-this-episode' }) });
  log.debug('said at level debug');
  log.info('said at level info');
  records.close();
  await record.close();
  return { path: folder.path, log: readFileSync(folder.log, 'utf8') };
}

test('run.outputDir and run.name say where a run writes, and run.seed where it has no name', async () => {
  expect((await runWith('run.name=mine')).path).toBe(join(outputDir, 'mine'));
  expect((await runWith('run.seed=9')).path).toBe(join(outputDir, 'code_exec_smoke-seed9'));
  const deeper = join(outputDir, 'deeper');
  expect((await runWith(`run.outputDir=${deeper}`)).path).toMatch(deeper);
});

test('a run whose first files cannot be written leaves no folder, so that its name is free again', async () => {
  // Read when the last of them is written.
  const origins: SettingOrigins = {
    get 'run.seed'(): never {
      throw new Error('the disk is full');
    },
  };
  const options = optionsWith('run.name=half');
  await expect(OpenRun.open({ ...options, origins })).rejects.toThrow('the disk is full');
  expect(existsSync(join(outputDir, 'half'))).toBe(false);
  await (await OpenRun.open(options)).close();
});

test('a session that ends early says whether there is a checkpoint, and the command', async () => {
  const record = await OpenRun.open(optionsWith('run.name=early'));
  const command = `npx agent-rl train --resume ${join(outputDir, 'early')}`;
  expect(record.nextStep()).toContain(`There is no checkpoint yet.`);
  expect(record.nextStep()).toContain(command);
  await record.close();
});

test('run.logLevel is the lowest level that is logged', async () => {
  expect((await runWith('run.logLevel=debug')).log).toContain('said at level debug');
  const { log } = await runWith('run.logLevel=info');
  expect(log).toContain('said at level info');
  expect(log).not.toContain('said at level debug');
  expect((await runWith('run.logLevel=warn')).log).not.toContain('said at level info');
});

test('run.logRollouts logs a line for each episode', async () => {
  expect((await runWith('run.logRollouts=true')).log).toContain('task-of-this-episode');
  expect((await runWith()).log).not.toContain('task-of-this-episode');
});
