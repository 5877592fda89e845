import type { TokenUse } from '../../../rollout/tokens/ledger.ts';
import type { Metrics } from '../../../telemetry/index.ts';

/** What the buckets of the ledger mean, to the reader of one iteration. */
export const ledgerWords: Readonly<Record<TokenUse, string>> = {
  trained: 'moved the weights',
  'zero-advantage': 'as good as their group, so that there is nothing to follow',
  masked: 'left out by rollout.outcomes or the reward manager',
  'not-selected': 'left out by algorithm.selection',
  untrained: 'of an agent that does not learn (agents[].train)',
  resampled: 'of groups with equal rewards that were drawn again',
  infrastructure: 'of episodes that generator, sandbox, tool or environment failed',
  grader: 'of episodes whose judging failed',
  aborted: 'of episodes that were stopped',
};

/** Why there is no gradient, or why it has no effect; nothing where there is one. */
export function zeroGradient(metrics: Metrics): string | undefined {
  const of = (use: TokenUse): number => metrics[`ledger/${use}`] ?? 0;
  const uses = (Object.keys(ledgerWords) as TokenUse[]).toSorted((a, b) => of(b) - of(a));
  const norm = metrics['train/gradNorm'];
  const sampled = uses.reduce((total, use) => total + of(use), 0);
  const left = uses
    .filter((use) => use !== 'trained' && of(use) > 0)
    .map((use) => `${of(use)} ${ledgerWords[use]} (${use})`)
    .join(', ');
  if (sampled === 0) return 'nothing was sampled, or no ledger was recorded';
  if (of('trained') === 0 && norm === undefined)
    return `no sampled token has a part in the loss: ${left}`;
  if (norm === 0) {
    const shares = [
      `clipped ${metrics['sent/clipFraction'] ?? 0}`,
      `guarded ${metrics['sent/guarded'] ?? 0}`,
      `factor 0 by the correction ${metrics['correction/maskedShare'] ?? 0}`,
    ];
    return `tokens were sent and the loss gave them none; shares of them: ${shares.join(', ')}`;
  }
  if (metrics['train/learningRate'] === 0) return 'the learning rate is 0: the step had no effect';
  return undefined;
}
