import { type Scorer, scorerOf } from '../../core/services/scorer.ts';
import type { ResolvedRun } from '../resolve-run.ts';
import { longestTokens, openEngine } from './open-engine.ts';

/**
 * Log-probabilities under a run's model as it is on disk. Each call opens and closes an engine: there is at most one
 * call.
 */
export const modelScorer = (
  { config, model }: Pick<ResolvedRun, 'config' | 'model'>,
  signal: AbortSignal,
): Scorer => ({
  async score(tokens, options) {
    const longest = longestTokens(config);
    const request = {
      rows: 1,
      maxContextTokens: longest,
      scores: { longestTokens: longest },
      trains: false,
      signal,
    };
    const engine = await openEngine(config, model, request);
    try {
      return await scorerOf(engine.learner).score(tokens, options);
    } finally {
      await engine.close();
    }
  },
});
