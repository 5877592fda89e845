import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const config = join(packageRoot(), 'configs', 'code_exec_grpo.yaml');
const model = join(folder, 'model');

beforeAll(() => writeSmallModel(model));

describe('A job run from code', () => {
  test('overrides the file with its options and prints its plan', async () => {
    const printed: string[] = [];
    const result = await trainAgent({
      config,
      overrides: {
        'model.path': model,
        'rollout.tasksPerStep': 3,
        'rollout.groupSize': 5,
      },
      dryRun: true,
      print: (text) => printed.push(text),
    });
    expect(result).toMatchObject({ dryRun: true });
    expect(printed.join('\n')).toMatch(/3 tasks x 5 episodes = 15 an iteration/);
  });

  test('reports in a dry run that there is no run to resume', async () => {
    const resume = join(folder, 'no-such-run');
    const overrides = { 'model.path': model };
    await expect(trainAgent({ config, overrides, resume, dryRun: true })).rejects.toMatchObject({
      code: 'CHECKPOINT_INVALID',
      message: expect.stringContaining(`${resume} is not a run folder`),
    });
  });

  test('names the override that is wrong', async () => {
    await expect(trainAgent({ config, overrides: { 'run.sed': 1 } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining("overrides['run.sed']"),
    });
  });

  test('names the plugin that cannot be loaded', async () => {
    await expect(trainAgent({ config, plugins: ['./no-such-plugin.ts'] })).rejects.toMatchObject({
      code: 'PLUGIN_LOAD_FAILED',
      message: expect.stringContaining('no-such-plugin.ts'),
    });
  });
});
