import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { learningRun, leastRise, notWhatWasDrawn, searchJob } from '../support/learning-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** What a run that learns has shown. */
async function learns(...run: Parameters<typeof learningRun>) {
  const ended = await learningRun(...run);
  expect(ended.trained.length).toBeGreaterThan(0);
  expect(notWhatWasDrawn(ended)).toBeUndefined();
  expect(ended.before.n).toBeGreaterThanOrEqual(20);
  const [before, after] = [ended.before, ended.after].map(({ successRate }) => Number(successRate));
  expect(after! - before!).toBeGreaterThanOrEqual(leastRise);
  return ended;
}

test('the starter model learns from the rewards of exactly the tokens that it sampled', async () => {
  const { result } = await learns('none');
  expect(result.state.totals.maxAbsLogProbGap).toBeLessThan(1e-4);
}, 600_000);

/** The weights are made by `make-starter search-starter` and are not among the files yet. */
const made = existsSync(join(packageRoot(), 'model', 'search-starter', 'model.safetensors'));
const whenMade = made ? test : test.skip;

whenMade(
  'the search starter learns from the results of its own searches',
  async () => {
    await learns('none', searchJob(join(folder, 'index')));
  },
  600_000,
);
