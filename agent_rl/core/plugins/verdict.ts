import type { Outcome } from '../outcome.ts';
import type { EpisodeEnd, Verdict } from './environment.ts';

const outcomeOf: Readonly<Record<Exclude<EpisodeEnd, 'aborted'>, Outcome>> = {
  done: 'wrong-answer',
  'turn-limit': 'truncated-turns',
  'token-limit': 'truncated-tokens',
  'invalid-calls': 'invalid-calls',
  'agent-error': 'agent-error',
};

/**
 * The verdict on an episode: its outcome follows from how it ended, its reward is the sum of its components, without
 * components of 0. An aborted episode has neither a reward nor an answer, and an episode that ended with an agent error
 * is forfeited.
 *
 * @example return verdict(end, { success, components: { answer: success ? 1 : 0 }, metrics: { calls } });
 */
export function verdict(
  end: EpisodeEnd,
  { components: parts, success, ...more }: Omit<Verdict, 'outcome' | 'reward'>,
): Verdict {
  if (end === 'aborted') return unjudged('aborted', more);
  const components = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== 0));
  const reward = Object.values(components).reduce((sum, part) => sum + part, 0);
  const outcome = success ? 'completed' : outcomeOf[end];
  const forfeited = end === 'agent-error' ? true : more.forfeited;
  return { outcome, reward, components, success, ...more, forfeited };
}

/** The verdict on an episode that cannot be judged, for example because the sandbox failed. */
export const unjudged = (
  outcome: 'aborted' | 'infrastructure-error' | 'agent-failed' | 'grader-error',
  { problem, metrics, record }: Pick<Verdict, 'problem' | 'metrics' | 'record'>,
): Verdict => ({
  outcome,
  reward: undefined,
  components: {},
  success: false,
  problem,
  metrics,
  record,
});
