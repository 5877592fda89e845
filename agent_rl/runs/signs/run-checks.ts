import { noCalls, rejectedCalls, toolResults, truncated, unreadCalls } from './calls.ts';
import type { Answer, Check, Verdict } from './check.ts';
import { fewTasks, groups, oneSided } from './groups.ts';
import { gradient, learningRate } from './learning-rate.ts';
import { leftOut, masked } from './masked.ts';
import { entropy, heldOut, kl, lengths, ratios, repetition } from './policy.ts';
import { constantPart, constantReward, neverSolved, paidForNothing, success } from './reward.ts';
import type { RunEvidence } from './run-evidence.ts';
import { control, failures, parity, slowTools } from './run-itself.ts';

/** In the order of causes: what comes first may be why what follows is as it is. */
export const checks: readonly Check[] = [
  control,
  failures,
  parity,
  learningRate,
  masked,
  leftOut,
  truncated,
  unreadCalls,
  rejectedCalls,
  fewTasks,
  constantReward,
  paidForNothing,
  noCalls,
  toolResults,
  oneSided,
  constantPart,
  kl,
  ratios,
  neverSolved,
  success,
  groups,
  gradient,
  entropy,
  repetition,
  lengths,
  heldOut,
  slowTools,
];

/** An answer, with the check it is to. */
export interface Finding extends Omit<Answer, 'example'> {
  check: string;
  asks: string;
  /** What follows from a cause, by itself not one. */
  effect: boolean;
  /** An episode to look at, as `agent-rl runs show` calls it. */
  episode?: string;
}

const troubles: readonly Verdict[] = ['wrong', 'suspicious'];

export const isTrouble = ({ verdict }: Pick<Answer, 'verdict'>): boolean =>
  troubles.includes(verdict);

/** All answers: causes before effects, of each the gravest first; then what was not measured, and what is well. */
export function runChecks(evidence: RunEvidence, all: readonly Check[] = checks): Finding[] {
  const findings = all.map(({ name, asks, effect = false, look }) => {
    const { example, ...answer } = look(evidence);
    const episode = example && evidence.episodes?.examples.get(example);
    const finding: Finding = Object.assign({ check: name, asks, effect }, answer);
    return episode === undefined ? finding : { ...finding, episode };
  });
  const of = (verdict: Verdict, effects: readonly boolean[]): Finding[] =>
    findings.filter((one) => one.verdict === verdict && effects.includes(one.effect));
  return [
    ...troubles.flatMap((verdict) => of(verdict, [false])),
    ...troubles.flatMap((verdict) => of(verdict, [true])),
    ...of('unknown', [false, true]),
    ...of('ok', [false, true]),
  ];
}
