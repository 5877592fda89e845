import { describe, expect, test } from '@jest/globals';

import { serviceLoss } from '#agent_rl/learner/tinker/service-loss.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { thrownBy } from '#tests/support/thrown.ts';

describe('The loss for a Tinker service', () => {
  test('has bounds of the ratio: 1 - clipLow and 1 + clipHigh', () => {
    const config = { clip_low_threshold: 0.8, clip_high_threshold: 1.28 };
    expect(serviceLoss(policyLossSpec())).toEqual({ name: 'ppo', config });
    expect(serviceLoss(policyLossSpec({ type: 'cispo' }))).toEqual({ name: 'cispo', config });
  });

  test('expresses a likelihood as CISPO with a weight of 1', () => {
    const config = { clip_low_threshold: 1, clip_high_threshold: 1 };
    for (const loss of [policyLossSpec({ type: 'reinforce' }), { name: 'cross_entropy' } as const])
      expect(serviceLoss(loss)).toEqual({ name: 'cispo', config });
  });

  test.each([
    [{ kl: { kind: 'k3', weight: 0.1 } }, 'Set algorithm.kl.in to reward'],
    [{ entropyBonus: 0.01 }, 'algorithm.entropyBonus'],
    [{ temperature: 0.7 }, 'policy.sampling.temperature 0.7'],
    [{ settings: { clipLow: 0.2, clipHigh: 0.2, dualClip: 3 } }, 'algorithm.loss.dualClip'],
    [{ type: 'gspo' }, 'Use clipped, cispo or reinforce'],
    [{ module: 'file:///own.js' }, 'Use clipped, cispo or reinforce'],
  ] as const)('refuses a loss that services do not have, with advice: %j', (over, text) => {
    const thrown = thrownBy(() => serviceLoss(policyLossSpec(over)));
    expect(thrown).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(thrown.message).toContain(text);
  });
});
