import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { learningRun, leastRise, notWhatWasDrawn, searchJob } from '../support/learning-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

test('the search starter learns from the answers to searches it made itself', async () => {
  const run = await learningRun('none', searchJob(join(folder, 'index')));
  expect(run.trained.length).toBeGreaterThan(0);
  expect(notWhatWasDrawn(run)).toBeUndefined();
  expect(run.before.n).toBeGreaterThanOrEqual(20);
  expect(run.after.successRate - run.before.successRate).toBeGreaterThanOrEqual(leastRise);
}, 600_000);
