import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const started = process.cwd();

beforeEach(() => process.chdir(folder));
afterEach(() => process.chdir(started));

test('supervised training finds data that ships with the package from another working directory', async () => {
  const model = join(folder, 'model');
  await writeSmallModel(model);
  const { code, message } = await rejectionOf(
    trainAgent({
      config: join(packageRoot(), 'configs', 'code_exec_grpo.yaml'),
      overrides: { 'train.mode': 'sft', 'model.path': model },
      dryRun: true,
    }),
  );
  // It was found and read: tasks are no conversations, which is said of its lines.
  expect(code).toBe('DATASET_INVALID');
  expect(message).toContain(join(packageRoot(), 'dataset', 'code_tasks', 'train.jsonl:1'));
});
