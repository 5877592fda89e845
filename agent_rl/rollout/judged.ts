import { messageOf } from '../core/errors.ts';
import { AgentFailure, type Failure, failureOf, isAgentFailure } from '../core/failure.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Verdict } from '../core/plugins/environment.ts';
import type { JudgedBy, Part, Rollout } from '../core/rollout.ts';
import { redactor } from '../telemetry/redact.ts';
import type { EpisodeParts } from './episode-parts.ts';

/** What is known of an agent's part in an episode when it has been judged. */
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
> &
  Partial<Pick<Rollout, 'problem' | 'failure'>>;

/** The outcome of an episode that was not judged because something threw. */
export function failedOutcome(thrown: unknown, { aborted }: Pick<AbortSignal, 'aborted'>): Outcome {
  if (aborted) return 'aborted';
  return isAgentFailure(thrown) ? 'agent-failed' : 'infrastructure-error';
}

/** @param then what failed while the environment was notified */
export function failed(
  outcome: Outcome,
  thrown: unknown,
  then: readonly string[] = [],
): Judged & { failure: Failure } {
  // What was thrown may quote a request with a key in it, and the problem is shown and written.
  const problem = redactor()([messageOf(thrown), ...then].join('; then finish failed: '));
  const none = { ...noVerdict, unpaid: undefined, record: undefined, answer: undefined };
  return { outcome, ...none, problem, failure: failureOf(thrown) };
}

/** What is known of a part that was not judged. */
export const noVerdict = {
  success: false,
  reward: undefined,
  components: {},
  scores: {},
  metrics: {},
} satisfies Partial<Part>;

/** What the environment itself says that the system failed at. */
export function failedByVerdict({ outcome, problem }: Verdict): Judged {
  const why = problem ?? `The environment judged: ${outcome}.`;
  if (outcome === 'agent-failed') return failed(outcome, new AgentFailure(why));
  // Its own judgement is final; what its sandbox or server failed at may pass.
  const failure = { owner: 'host', retryable: outcome === 'infrastructure-error' } as const;
  return { ...failed(outcome, new Error(why)), failure };
}

/** What an environment counts and records, whatever it judged. */
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
