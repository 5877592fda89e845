import { describe, expect, test } from '@jest/globals';

import { type Fault, learningRun, leastRise, notWhatWasDrawn } from '../support/learning-run.ts';

/*
 * What learning.test.ts asserts must be false of a run that does not learn from its rewards. Several times as long as
 * that test, so only on demand: AGENT_RL_CONTROLS=1.
 */
const onDemand = process.env['AGENT_RL_CONTROLS'] === '1' ? describe : describe.skip;

onDemand('a run that must not pass for one that learns', () => {
  test.each<Fault>(['flipped-advantages', 'shuffled-rewards'])(
    'success does not rise with %s',
    async (fault) => {
      const { before, after } = await learningRun(fault);
      expect((after.successRate ?? Number.NaN) - (before.successRate ?? Number.NaN)).toBeLessThan(
        leastRise,
      );
    },
    600_000,
  );

  test('training on tokens other than the sampled ones is detected token by token', async () => {
    const run = await learningRun('other-tokens');
    expect(notWhatWasDrawn(run)).toMatch(/no episode has these tokens/);
  }, 600_000);
});
