import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';

/** A clipped loss without a KL term, at temperature 1, but for what is given. */
export const policyLossSpec = (over: Partial<PolicyLossSpec> = {}): PolicyLossSpec => ({
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.28 },
  kl: { kind: 'none', weight: 0 },
  temperature: 1,
  ...over,
});
