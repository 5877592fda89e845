import type { Outcome } from '../../core/outcome.ts';
import type { RolloutOptions } from '../training-options.ts';

type Outcomes = RolloutOptions['outcomes'];

/** What becomes of an episode, see `rollout.outcomes`; nothing is set for one that went to its end or was stopped. */
export const actionOn = (
  outcome: Outcome,
  outcomes: Outcomes,
): Outcomes[keyof Outcomes] | undefined =>
  Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof Outcomes] : undefined;
