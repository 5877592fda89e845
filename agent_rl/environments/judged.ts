import type { Outcome } from '../core/outcome.ts';
import type { EpisodeEnd, Verdict } from '../core/plugins/environment.ts';

const unsolved: Readonly<Record<Exclude<EpisodeEnd, 'aborted'>, Outcome>> = {
  'turn-limit': 'truncated-turns',
  'token-limit': 'truncated-tokens',
  'invalid-calls': 'invalid-calls',
  done: 'wrong-answer',
};

/** The outcome of a judged episode, and its reward as the sum of its parts; parts of 0 are left out. */
export function judged(
  end: Exclude<EpisodeEnd, 'aborted'>,
  success: boolean,
  parts: Readonly<Record<string, number>>,
): Pick<Verdict, 'outcome' | 'reward' | 'components' | 'success'> {
  const components = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== 0));
  const reward = Object.values(components).reduce((sum, part) => sum + part, 0);
  return { outcome: success ? 'completed' : unsolved[end], reward, components, success };
}
