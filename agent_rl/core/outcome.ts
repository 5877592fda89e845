/**
 * How an episode ended. One enum for the whole system, by who caused the end: the policy (the reward is real) or the
 * system (the reward is absent, never 0).
 */
export const outcomes = [
  'completed',
  'wrong-answer',
  'truncated-tokens',
  'truncated-turns',
  'invalid-calls',
  'tool-timeout',
  'agent-error',
  'infrastructure-error',
  'agent-failed',
  'grader-error',
  'aborted',
] as const;

/** How an episode ended. */
export type Outcome = (typeof outcomes)[number];

const systemFailures: ReadonlySet<Outcome> = new Set([
  'infrastructure-error',
  'agent-failed',
  'grader-error',
  'aborted',
]);

/** Whether the system, not the policy, failed: such a member has no reward and leaves its group's statistics. */
export const isSystemFailure = (outcome: Outcome): boolean => systemFailures.has(outcome);
