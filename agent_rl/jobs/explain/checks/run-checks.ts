import type { RunEvidence } from '../evidence/run-evidence.ts';
import { noCalls, rejectedCalls, truncated, unreadCalls } from './calls.ts';
import type { Answer, Check, Verdict } from './check.ts';
import { groups } from './groups.ts';
import { gradient, learningRate } from './learning-rate.ts';
import { leftOut, masked } from './masked.ts';
import { entropy, heldOut, kl, ratios, repetition } from './policy.ts';
import { constantPart, constantReward, neverSolved, paidForNothing } from './reward.ts';
import { control, failures, parity } from './run-itself.ts';

/** In the order of causes: what comes first may be why what follows is as it is. */
export const checks: readonly Check[] = [
  control,
  failures,
  parity,
  learningRate,
  masked,
  leftOut,
  unreadCalls,
  rejectedCalls,
  noCalls,
  constantReward,
  truncated,
  neverSolved,
  constantPart,
  paidForNothing,
  groups,
  gradient,
  kl,
  ratios,
  entropy,
  repetition,
  heldOut,
];

/** An answer, with the check it is to. */
export interface Finding extends Omit<Answer, 'example'> {
  check: string;
  asks: string;
  /** An episode to look at, as `agent-rl show` calls it. */
  episode?: string;
}

const order: readonly Verdict[] = ['wrong', 'suspicious', 'unknown', 'ok'];

/** All answers, the gravest first and of equals the cause first. */
export function runChecks(evidence: RunEvidence, all: readonly Check[] = checks): Finding[] {
  const findings = all.map(({ name, asks, look }) => {
    const { example, ...answer } = look(evidence);
    const episode = example && evidence.episodes?.examples.get(example);
    return Object.assign({ check: name, asks }, answer, episode === undefined ? {} : { episode });
  });
  return order.flatMap((verdict) => findings.filter((one) => one.verdict === verdict));
}
