import { describe, expect, test } from '@jest/globals';

import { groupRewards } from '#agent_rl/trainer/collect/group-rewards.ts';

const terms = [
  { name: 'environment', weight: 1 },
  { name: 'mrr', weight: 3 },
];
const failed = { reward: undefined, components: {} };

describe('the rewards a group is compared by', () => {
  test('are those of the episodes where no scheme looks at the group', () => {
    const trajectories = [{ reward: 0.1 + 0.2, components: {}, scores: { mrr: 9 } }, failed];
    expect(groupRewards(trajectories, undefined)).toEqual({ rewards: [0.1 + 0.2, undefined] });
  });

  test('are combined of the scores, less what invalid calls cost', () => {
    const trajectories = [
      { reward: 5, components: { invalidCalls: -0.4 }, scores: { environment: 1, mrr: 0 } },
      failed,
      { reward: 6, components: {}, scores: { environment: 0, mrr: 10, other: 99 } },
    ];
    // Deviations 1, -1 and -1, 1, weights 1 and 3: -2 and 2, and 0.4 off the first.
    expect(groupRewards(trajectories, { scheme: 'normalised', terms })).toEqual({
      rewards: [-2.4, undefined, 2],
      weights: { environment: 1, mrr: 3 },
    });
  });
});
