import type { Outcome } from '../../core/outcome.ts';
import type { RolloutOptions } from '../training-options.ts';

type Outcomes = RolloutOptions['outcomes'];

/** How to use an episode, see `rollout.outcomes`; undefined for a finished or aborted episode. */
export const actionOn = (
  outcome: Outcome,
  outcomes: Outcomes,
): Outcomes[keyof Outcomes] | undefined =>
  Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof Outcomes] : undefined;
