import type { TokenUse } from '../../rollout/tokens/ledger.ts';

/** What the buckets of the ledger mean. */
export const useMeanings: Readonly<Record<TokenUse, string>> = {
  trained: 'moved the weights',
  'zero-advantage': 'exactly as good as the mean of its group, so there is nothing to learn',
  masked:
    'left out by rollout.outcomes or the reward manager, but counted in the mean of its group',
  'not-selected': 'left out by algorithm.selection, but counted in the mean of its group',
  untrained: 'of an agent that does not learn (agents[].train)',
  resampled: 'its group was resampled (algorithm.selection)',
  undelivered: 'never reached the agent, which runs its own loop',
  infrastructure: 'the generator, the sandbox, a tool, the environment or the agent failed',
  grader: 'the reward or judge failed',
  aborted: 'it was stopped',
};
