/** What each use of sampled tokens in the ledger means. */
export const useMeanings = {
  trained: 'moved the weights',
  'zero-advantage': 'exactly as good as its group, so its advantage is 0',
  distilled: 'learned from as the teacher judged it; its own advantage is 0 or has no weight',
  masked:
    'left out by rollout.outcomes or the reward manager; it still counts in the mean of its group',
  'not-selected': 'left out by algorithm.selection; it still counts in the mean of its group',
  untrained: 'belongs to an agent that does not learn (agents[].train)',
  resampled: 'algorithm.selection replaced its group with a new one',
  undelivered: 'never reached the agent, which runs its own loop',
  infrastructure: 'the generator, the sandbox, a tool, the environment or the agent failed',
  grader: 'the grader failed',
  aborted: 'the episode was stopped',
} as const satisfies Readonly<Record<string, string>>;
