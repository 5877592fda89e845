import { messageOf } from '../core/errors.ts';
import { AgentFailure, type Failure, failureOf, isAgentFailure } from '../core/failure.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Verdict } from '../core/plugins/environment.ts';
import type { JudgedBy, Part, Rollout } from '../core/rollout.ts';
import { redactor } from '../telemetry/redact.ts';
import type { EpisodeParts } from './episode-parts.ts';

/** An agent's part in an episode after it was judged. */
export type Judged = Pick<
  Part,
  | 'outcome'
  | 'success'
  | 'reward'
  | 'components'
  | 'scores'
  | 'metrics'
  | 'record'
  | 'answer'
  | 'unpaid'
  | 'turnRewards'
  | 'turnStates'
> &
  Partial<Pick<Rollout, 'problem' | 'failure'>>;

/** The outcome of an episode that was not judged because of an error. */
export function failedOutcome(thrown: unknown, { aborted }: Pick<AbortSignal, 'aborted'>): Outcome {
  if (aborted) return 'aborted';
  return isAgentFailure(thrown) ? 'agent-failed' : 'infrastructure-error';
}

/** @param then the error of notifying the environment */
export function failed(
  outcome: Outcome,
  thrown: unknown,
  then: readonly string[] = [],
): Judged & { failure: Failure } {
  // The error may quote a request with a key, and the problem is shown and recorded.
  const problem = redactor()([messageOf(thrown), ...then].join('; then finish failed: '));
  const none = { ...noVerdict, unpaid: undefined, record: undefined, answer: undefined };
  return { outcome, ...none, problem, failure: failureOf(thrown) };
}

/** A part that was not judged. */
export const noVerdict = {
  success: false,
  reward: undefined,
  components: {},
  scores: {},
  turnRewards: undefined,
  turnStates: undefined,
  metrics: {},
} satisfies Partial<Part>;

/** A system failure that the environment itself reports. */
export function failedByVerdict({ outcome, problem }: Verdict): Judged {
  const why = problem ?? `The environment reported ${outcome}.`;
  if (outcome === 'agent-failed') return failed(outcome, new AgentFailure(why));
  // Its own verdict is final; a failure of its sandbox or server may be temporary.
  const failure = { owner: 'host', retryable: outcome === 'infrastructure-error' } as const;
  return { ...failed(outcome, new Error(why)), failure };
}

/** The metrics and records of an environment, whatever its verdict. */
export const keptOf = ({
  metrics = {},
  record,
  answer,
}: Verdict): Pick<Judged, 'metrics' | 'record' | 'answer'> => ({ metrics, record, answer });

export const judgedBy = ({
  environmentName,
  environmentWeight = 1,
  rewards,
}: EpisodeParts): JudgedBy => ({
  environment: environmentName,
  environmentWeight,
  rewards: rewards.map(({ name, weight, tool }) => ({ name, weight, tool })),
});
