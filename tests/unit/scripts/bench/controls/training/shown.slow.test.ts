import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { prepareOwn, type SeedOptions } from '#scripts/bench/controls/seed.ts';
import { makeControls } from '#scripts/bench/controls/parts.ts';
import { runTasks } from '#scripts/bench/controls/tasks/run-tasks.ts';
import { rightDemonstrations } from '#scripts/bench/controls/training/shown.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

const optionsOf = (config: string): SeedOptions => ({
  seed: 3,
  config: join(packageRoot(), 'configs', config),
  sftConfig: join(packageRoot(), 'configs/code_tasks_sft.yaml'),
  sets: [],
  attempts: 2,
  price: 0.05,
  runs: 'runs',
  folder,
  signal: new AbortController().signal,
  print: () => undefined,
});

test('right demonstrations of programs show the references of the tasks that the run draws', async () => {
  const options = optionsOf('code_exec_grpo.yaml');
  const shown = rightDemonstrations(options);
  const conversations = await shown.conversations(20, await prepareOwn(options));
  const drawn = (await runTasks(options)).drawn(20);
  expect(conversations.map(([asked]) => asked?.content)).toEqual(drawn.map(({ prompt }) => prompt));
});

test('a job of several kinds has no right demonstrations, and trains nothing to find out', async () => {
  const run = (): never => {
    throw new Error('The run was made.');
  };
  const made = await makeControls(optionsOf('mixed_grpo.yaml'), ['right-demonstrations'], run);
  expect(made).toEqual({ 'right-demonstrations': null });
});
