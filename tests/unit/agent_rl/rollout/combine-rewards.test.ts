import { expect, test } from '@jest/globals';

import type { EpisodeView } from '../../../../agent_rl/core/reward.ts';
import { combineRewards } from '../../../../agent_rl/rollout/combine-rewards.ts';

test('a reward may have a name that every object has something under', async () => {
  const episode = {
    verdict: { outcome: 'completed', reward: 1, components: { tests: 1 }, success: true },
  } as unknown as EpisodeView;
  const rewards = [{ name: 'constructor', weight: 0.5, score: () => 3 }];
  const options = { rewards, invalidCalls: 2, invalidCallPenalty: 0.25 };
  expect(await combineRewards(episode, options)).toEqual({
    reward: 2,
    components: { tests: 1, constructor: 1.5, invalidCalls: -0.5 },
  });
});
