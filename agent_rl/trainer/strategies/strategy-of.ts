import type { Config } from '../../config/index.ts';
import type { Strategy } from './choose-attempt.ts';

/** The strategy of a run file; none where every attempt counts. */
export function strategyOf({
  strategy,
  selector,
}: Pick<Config['eval'], 'strategy' | 'selector'>): Strategy | undefined {
  if (strategy === 'majority') return { name: strategy };
  return strategy === 'best-of-n' ? { name: strategy, selector } : undefined;
}
