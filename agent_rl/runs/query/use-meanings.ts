import type { TokenUse } from '../../rollout/tokens/ledger.ts';

/** What the buckets of the ledger mean. */
export const useMeanings: Readonly<Record<TokenUse, string>> = {
  trained: 'moved the weights',
  'zero-advantage': 'exactly as good as its group, so that there is nothing to follow',
  masked: 'left out by rollout.outcomes or the reward manager, after the mean of its group',
  'not-selected': 'left out by algorithm.selection, after the mean of its group',
  untrained: 'of an agent that does not learn (agents[].train)',
  resampled: 'its group was drawn again, as algorithm.selection decided',
  undelivered: 'never reached the agent, which has a loop of its own',
  infrastructure: 'the generator, the sandbox, a tool, the environment or the agent failed',
  grader: 'what judges it failed',
  aborted: 'it was stopped',
};
