import { expect, test } from '@jest/globals';

import { learningRun, leastRise, notWhatWasDrawn } from '../support/learning-run.ts';

test('the starter model learns from the rewards of exactly the tokens that it sampled', async () => {
  const run = await learningRun('none');
  expect(run.trained.length).toBeGreaterThan(0);
  expect(notWhatWasDrawn(run)).toBeUndefined();
  expect(run.result.state.totals.maxAbsLogProbGap).toBeLessThan(1e-4);
  expect(run.before.n).toBeGreaterThanOrEqual(20);
  expect(
    (run.after.successRate ?? Number.NaN) - (run.before.successRate ?? Number.NaN),
  ).toBeGreaterThanOrEqual(leastRise);
}, 600_000);
