import { type MetricName, percentText, shortNumber } from '../../telemetry/index.ts';
import type { CollapseSign, Watched } from './collapse-sign.ts';

/** Metrics before and now, or nothing where one was not measured. */
function both(
  { first, now }: Watched,
  names: readonly MetricName[],
): { before: number[]; after: number[] } | undefined {
  const before = names.flatMap((name) => first(name) ?? []);
  const after = names.flatMap((name) => now(name) ?? []);
  return before.length === names.length && after.length === names.length
    ? { before, after }
    : undefined;
}

/** Groups that teach nothing though not all of their episodes are right, by all groups. */
const idle = ([zeroVariance = 0, allRight = 0, count = 1]: readonly number[]): number =>
  Math.max(0, zeroVariance - allRight) / count;
const idleNames = ['group/zeroVariance', 'group/allRight', 'group/count'] as const;

/**
 * Entropy also falls, and groups agree, because tasks are solved: search_qa_grpo goes from 0.025 to 0.006 nats with four
 * groups in five all right. So groups count only where they agree without being right.
 */
const entropy: CollapseSign = {
  about: 'entropy-collapse',
  look: (watched) => {
    const seen = both(watched, ['rollout/entropyEstimate', ...idleNames]);
    if (seen === undefined) return undefined;
    const [was = 0, ...groupsBefore] = seen.before;
    const [is = 0, ...groupsNow] = seen.after;
    const [idleBefore, idleNow] = [idle(groupsBefore), idle(groupsNow)];
    // A fifth of the entropy and a third more of the groups: neither happens in a run of the shipped jobs.
    if (!(is < 0.2 * was && idleNow >= idleBefore + 1 / 3)) return undefined;
    return `The policy says one thing only: entropy fell from ${shortNumber(was)} to ${shortNumber(is)} nats a token (rollout/entropyEstimate) while groups of equal rewards that are not all right rose from ${percentText(idleBefore)} to ${percentText(idleNow)} (group/zeroVariance). Lower train.learningRate, or set algorithm.entropyBonus or algorithm.kl.`;
  },
};

/** Shipped jobs are at 1 to 5 %. */
const repetition: CollapseSign = {
  about: 'repetition',
  look: (watched) => {
    const seen = both(watched, ['rollout/repetition']);
    const [was = 0] = seen?.before ?? [];
    const [is = 0] = seen?.after ?? [];
    if (!(is >= 0.2 && is >= 2 * was)) return undefined;
    return `Turns repeat themselves: ${percentText(is)} of sampled 4-grams occurred before in their turn (rollout/repetition), at first ${percentText(was)}. Lower policy.maxTurnTokens, let length cost something (rewards: length, algorithm.overlong), or lower train.learningRate.`;
  },
};

const invalidNames = [
  'rollout/malformedCalls',
  'rollout/rejectedCalls',
  'rollout/episodes',
] as const;
const invalidShare = ([malformed = 0, rejected = 0, episodes = 1]: readonly number[]): number =>
  (malformed + rejected) / episodes;

const invalidCalls: CollapseSign = {
  about: 'invalid-calls',
  look: (watched) => {
    const seen = watched.tools ? both(watched, invalidNames) : undefined;
    if (seen === undefined) return undefined;
    const [was, is] = [invalidShare(seen.before), invalidShare(seen.after)];
    // Three in ten episodes: shipped jobs, with a penalty, stay under 0.14.
    if (!(is >= 0.3 && is >= 2 * was)) return undefined;
    return `Calls lose their form: ${shortNumber(is)} unreadable or rejected calls an episode (rollout/malformedCalls, rollout/rejectedCalls), at first ${shortNumber(was)}. Raise rollout.invalidCallPenalty, or lower train.learningRate.`;
  },
};

const lengths: CollapseSign = {
  about: 'lengths',
  look: (watched) => {
    const seen = both(watched, ['rollout/lengthMean', 'rollout/successRate']);
    if (seen === undefined) return undefined;
    const [was = 0, rightBefore = 0] = seen.before;
    const [is = 0, rightNow = 0] = seen.after;
    const grows = is >= 2 * was;
    // A task that comes to be solved may need more words, or fewer: only without that is it a bad sign.
    const better = rightNow > rightBefore + 0.05;
    if (!((grows || is <= 0.4 * was) && !better)) return undefined;
    const how = `from ${shortNumber(was)} to ${shortNumber(is)} sampled tokens (rollout/lengthMean) without more success (rollout/successRate ${percentText(rightBefore)} to ${percentText(rightNow)})`;
    return grows
      ? `Episodes get longer: ${how}. Read one with agent-rl show; let length cost something (rewards: length, algorithm.overlong), or set algorithm.aggregation.`
      : `Episodes get shorter: ${how}. Read one with agent-rl show: a reward may pay for ending at once.`;
  },
};

const ratioTails: CollapseSign = {
  about: 'ratio-tails',
  look: (watched) => {
    const is = watched.now('sent/ratioTail');
    // With a policy that is hardly changed in a step the tail is empty: one token in 50 is a step too far.
    if (is === undefined || is < 0.02) return undefined;
    return `Updates go far: ${percentText(is)} of the tokens sent are twice or half as likely as when they were sampled (sent/ratioTail). Lower train.learningRate, algorithm.epochs or algorithm.updatesPerBatch.`;
  },
};

const withoutTool: CollapseSign = {
  about: 'success-without-tool',
  look: (watched) => {
    const seen = watched.tools ? both(watched, ['rollout/successWithoutCalls']) : undefined;
    const [was = 0] = seen?.before ?? [];
    const [is = 0] = seen?.after ?? [];
    if (!(is >= was + 0.1)) return undefined;
    return `Success comes without the tool: ${percentText(is)} of episodes solve their task without a call (rollout/successWithoutCalls), at first ${percentText(was)}. Read one with agent-rl show: the answer may be guessed, or the reward may not look at it.`;
  },
};

export const collapseSigns: readonly CollapseSign[] = [
  entropy,
  repetition,
  invalidCalls,
  lengths,
  ratioTails,
  withoutTool,
];
