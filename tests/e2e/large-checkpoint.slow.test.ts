import { truncateSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { corruption, saveCheckpoint } from '#agent_rl/runs/checkpoints.ts';
import { FakeLearner } from '../support/fake-learner.ts';
import { miniMind3Folder } from '../support/minimind3.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/** One more than a single read of Node gives. */
const bytes = 2 ** 31;

/** Writes weights that are a hole: they take no room and hold zeros. */
class LargeLearner extends FakeLearner {
  override async saveState(into = ''): Promise<{ weightsSha256: string }> {
    truncateSync(writeBelow(into, 'model.safetensors', ''), bytes);
    return { weightsSha256: 'abc' };
  }
}

const folder = join(temporaryFolder(), 'checkpoints');

test('a checkpoint with a file of 2 GiB is written and verified', async () => {
  const { path } = await saveCheckpoint({
    folder,
    name: 'step-1',
    step: 1,
    state: { iteration: 1 },
    learner: new LargeLearner(),
    textFolder: miniMind3Folder,
  });
  expect(await corruption(path)).toBeUndefined();
});
