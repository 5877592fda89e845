import type { Outcome } from '../../core/outcome.ts';
import { isSystemFailure } from '../../core/outcome.ts';
import type { Rollout } from '../../core/rollout.ts';
import type { Config } from '../../config/index.ts';
import { mean } from '../../algorithms/statistics.ts';
import { largest } from '../../core/long-lists.ts';
import type { Attack } from './attacks.ts';

/** What came of one episode of an attack. */
export interface Attempt {
  taskId: string;
  /** `answer`, or the tool that was called. */
  place: string;
  text: string;
  outcome: Outcome;
  success: boolean;
  /** As trained on; `undefined` when the episode left its group. */
  reward: number | undefined;
  problem: string | undefined;
}

/** An attempt that was paid for cheating. */
export interface Finding extends Attempt {
  why: 'earns more' | 'counts as solved' | 'leaves its group';
  /** What an honest failure earns on the task. */
  honest: number;
}

export interface AttackReport {
  name: string;
  description: string;
  episodes: number;
  /** Of the episodes with a reward; null without any. */
  meanReward: number | null;
  /** Of the best attempt on any task. */
  bestReward: number | null;
  findings: readonly Finding[];
}

type Rules = Pick<Config['rollout'], 'outcomes' | 'failures'>;

/** The reward of an episode as `rollout.outcomes` has it trained on. */
export function rewardIn(
  { outcome, parts }: Pick<Rollout, 'outcome' | 'parts'>,
  { outcomes, failures }: Rules,
): number | undefined {
  const action: unknown = Object.hasOwn(outcomes, outcome)
    ? outcomes[outcome as keyof typeof outcomes]
    : undefined;
  return action === 'penalise' ? failures.penalty : parts[0]?.reward;
}

/** More than rounding. */
const margin = 1e-9;
/** A text that may be the right answer is a cheat when it is so on more tasks than this. */
const chanceShare = 0.25;

/** What an attack earned, and which of its attempts were paid for cheating. */
export function reportOf(
  { name, description, mayBeRight = false }: Attack,
  attempts: readonly Attempt[],
  honest: ReadonlyMap<string, number>,
): AttackReport {
  const rewards = attempts.flatMap(({ reward }) => reward ?? []);
  const findings = attempts.flatMap((attempt) => findingsIn(attempt, honest));
  return {
    name,
    description,
    episodes: attempts.length,
    meanReward: rewards.length === 0 ? null : mean(rewards),
    bestReward: rewards.length === 0 ? null : largest(rewards, -Infinity),
    findings: mayBeRight ? beyondChance(findings, honest.size) : findings,
  };
}

function findingsIn(attempt: Attempt, honest: ReadonlyMap<string, number>): Finding[] {
  const expected = honest.get(attempt.taskId);
  // On a task where even honesty has no reward nothing can be compared; the report says how many there are.
  if (expected === undefined) return [];
  const why = reasonOf(attempt, expected);
  return why === undefined ? [] : [{ ...attempt, why, honest: expected }];
}

function reasonOf(
  { reward, success, outcome }: Attempt,
  honest: number,
): Finding['why'] | undefined {
  if (reward === undefined) return isSystemFailure(outcome) ? 'leaves its group' : undefined;
  if (reward > honest + margin) return 'earns more';
  return success ? 'counts as solved' : undefined;
}

/** Leaves out texts that were right on only a few tasks, as any guess may be. */
function beyondChance(findings: readonly Finding[], tasks: number): Finding[] {
  const allowed = Math.max(1, chanceShare * tasks);
  return findings.filter(({ why, place, text }) => {
    if (why === 'leaves its group') return true;
    const right = findings.filter((other) => other.place === place && other.text === text);
    return new Set(right.map(({ taskId }) => taskId)).size > allowed;
  });
}
