import { describe, expect, test } from '@jest/globals';

import { episodeKl } from '#agent_rl/algorithms/kl-in-reward.ts';

describe('The KL of an episode', () => {
  const mask = [0, 1, 1, 0];
  // d is 0.5 and -1 where a token was sampled; what lies elsewhere does not count.
  const data = { policy: [9, -0.5, -2, NaN], reference: [0, -1, -1, 3] };

  test.each([
    // 0.5 - 1
    ['k1', -0.5],
    // (0.25 + 1) / 2
    ['k2', 0.625],
    // (e^-0.5 + 0.5 - 1) + (e^1 - 1 - 1) = 0.106530660 + 0.718281828
    ['k3', 0.824812488],
  ] as const)('is the sum over its sampled tokens, by %s', (kind, expected) => {
    expect(episodeKl(data, mask, kind)).toBeCloseTo(expected, 8);
  });

  test.each([
    ['k1', -20],
    ['k2', 200],
    // e^20 - 20 - 1
    ['k3', 485165174.4],
  ] as const)('is finite however far the reference is, by %s', (kind, expected) => {
    const far = { policy: [-500], reference: [-1] };
    expect(episodeKl(far, [1], kind)).toBeCloseTo(expected, 1);
  });

  test('is 0 without sampled tokens', () => {
    expect(episodeKl({ policy: [-1], reference: [-2] }, [0], 'k1')).toBe(0);
  });
});
