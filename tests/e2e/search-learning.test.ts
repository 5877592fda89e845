import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { learningRun, leastRise, notWhatWasDrawn, searchJob } from '../support/learning-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The weights are made by `make-starter search-starter` and are not among the files yet. */
const made = existsSync(join(packageRoot(), 'model', 'search-starter', 'model.safetensors'));
const whenMade = made ? describe : describe.skip;

whenMade('the search starter', () => {
  test('learns from the results of its own searches', async () => {
    const run = await learningRun('none', searchJob(join(folder, 'index')));
    expect(run.trained.length).toBeGreaterThan(0);
    expect(notWhatWasDrawn(run)).toBeUndefined();
    expect(run.before.n).toBeGreaterThanOrEqual(20);
    expect(
      (run.after.successRate ?? Number.NaN) - (run.before.successRate ?? Number.NaN),
    ).toBeGreaterThanOrEqual(leastRise);
  }, 600_000);
});
