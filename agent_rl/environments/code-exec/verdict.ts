import type { EpisodeEnd, Verdict } from '../../core/plugins/environment.ts';
import { unjudged, verdict } from '../../core/plugins/verdict.ts';
import type { Judgement } from '../../sandbox/judge/judge.ts';
import type { CodeExecSettings } from './settings.ts';

/** The result of an episode, before it becomes numbers. */
export interface Episode {
  end: EpisodeEnd;
  /** Of the judged call; absent if the policy made no call. */
  judgement: Judgement | undefined;
  /** code_exec calls that ran. */
  calls: number;
  /** Calls that raised, were stopped, or were judged and failed. */
  failedCalls: number;
  timedOutCalls: number;
}

/** Puts an episode into reward, components and counts. */
export function verdictOf(episode: Episode, settings: CodeExecSettings): Verdict {
  const { end, timedOutCalls } = episode;
  const judgement = end === 'aborted' ? undefined : episode.judgement;
  if (judgement?.status === 'sandbox_error') {
    const problem = judgement.problem && `The sandbox failed: ${judgement.problem}`;
    return unjudged('infrastructure-error', { problem, metrics: metricsOf(episode, false, 0) });
  }
  const { passed = 0, total = 1 } = judgement ?? {};
  const share = total === 0 ? 0 : passed / total;
  const success = share === 1;
  const components = {
    success: success ? settings.successReward : 0,
    partialCredit: success ? 0 : settings.partialCredit * share,
    timeout: timedOutCalls > 0 ? -settings.timeoutPenalty : 0,
    turnLimit: end === 'turn-limit' ? -settings.turnLimitPenalty : 0,
  };
  const metrics = metricsOf(episode, success, share);
  // The result of each judged hidden test, in order. The tests themselves are not recorded.
  const record = judgement && { hidden_tests: judgement.statuses };
  return verdict(end, { success, components, metrics, record });
}

function metricsOf(
  { judgement, calls, failedCalls, timedOutCalls }: Episode,
  success: boolean,
  share: number,
): Record<string, number> {
  return {
    casesPassedShare: share,
    codeExecCalls: calls,
    noCall: calls === 0 ? 1 : 0,
    timedOutCalls,
    repairedAfterError: success && failedCalls > 0 ? 1 : 0,
    judgedTimeouts: judgement?.statuses.filter((status) => status === 'timeout').length ?? 0,
  };
}
