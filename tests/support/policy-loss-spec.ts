import type { PolicyLossSpec } from '#agent_rl/core/services/learner.ts';
import { clippedSpec } from './algorithm-parts.ts';

/** A clipped loss without a KL term, at temperature 1, but for what is given. */
export const policyLossSpec = (over: Partial<PolicyLossSpec> = {}): PolicyLossSpec =>
  clippedSpec(0.2, 0.28, over);
