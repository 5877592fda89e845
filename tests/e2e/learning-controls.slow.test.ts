import { describe, expect, test } from '@jest/globals';

import { type Fault, learningRun, leastRise, notWhatWasDrawn } from '../support/learning-run.ts';

/* What learning.test.ts asserts must be false of a run that does not learn from its rewards. */
describe('A run that does not learn from its rewards', () => {
  test.each<Fault>(['flipped-advantages', 'shuffled-rewards'])(
    'gains no success with %s',
    async (fault) => {
      const { before, after } = await learningRun(fault);
      expect((after.successRate ?? Number.NaN) - (before.successRate ?? Number.NaN)).toBeLessThan(
        leastRise,
      );
    },
    600_000,
  );

  test('is detected token by token when it trains on other tokens than the sampled ones', async () => {
    const run = await learningRun('other-tokens');
    expect(notWhatWasDrawn(run)).toMatch(/no episode has these tokens/);
  }, 600_000);
});
