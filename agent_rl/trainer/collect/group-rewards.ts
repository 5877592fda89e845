import { messageOf, runEndingError } from '../../core/errors.ts';
import { failureOf, PluginError, WrongValue } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import { runningPlugin } from '../../core/plugins/plugin-failure.ts';
import type {
  GroupRewards,
  JudgedEpisode,
  JudgedGroup,
  RewardManager,
  RewardTerm,
} from '../../core/plugins/reward-manager.ts';
import { showValue } from '../../core/show-value.ts';
import { abortable, inTime, underSignals } from '../../core/stopping/abort.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { Part } from '../../core/rollout.ts';
import { checkNumbers, checkReward } from '../../rollout/check-verdict.ts';
import { invalidCallsComponent } from '../../rollout/combine-rewards.ts';
import { retrying } from '../../rollout/retrying.ts';
import { redactor } from '../../telemetry/redact.ts';

/** The reward manager of a run and its options. */
export interface GroupRewarding {
  /** As the run file names it. */
  name: string;
  /** Where it is from, for messages. */
  source?: string | undefined;
  manager: Pick<RewardManager, 'assign'>;
  /** The rewards that have a weight, the environment's among them, in the order they are added. */
  terms: readonly RewardTerm[];
  /** Time limit of the manager for a group in seconds; no limit by default. */
  deadlineS?: number | undefined;
  /** Retries after a temporary failure. 0 by default. */
  retries?: number | undefined;
}

/** The rewards by which the members of a group are compared. */
export interface RewardedGroup {
  /** One per member, in order; `undefined` where the system failed or the manager gave none. */
  rewards: readonly (number | undefined)[];
  /** The terms of each reward, as the manager reports them. */
  components?: GroupRewards['components'] | undefined;
  /** The weight of each term in this group. */
  weights?: GroupRewards['weights'] | undefined;
  /** Retries of the manager. */
  retries: number;
  /** The problem, if the manager failed. */
  failed?: NonNullable<Part['unjudged']> | undefined;
}

/** The reward fields of a group's member. */
export type RewardedPart = Pick<
  Part,
  'messages' | 'calls' | 'outcome' | 'success' | 'scores' | 'components' | 'metrics' | 'reward'
>;

/**
 * The rewards by which a group is compared: the episodes' own or, with a manager, its rewards minus the penalty for
 * invalid calls. The manager does not see members without a reward.
 *
 * @throws what ends the run, and the reason of an aborted signal; any other failure of the manager is in the result
 */
export async function groupRewards(
  task: Task,
  members: readonly RewardedPart[],
  { rewarding, signal: cancelled }: { rewarding: GroupRewarding | undefined; signal: AbortSignal },
): Promise<RewardedGroup> {
  if (rewarding === undefined || members.every(({ reward }) => reward === undefined))
    return { rewards: members.map(({ reward }) => reward), retries: 0 };
  // Its own signal, since the run's would have a listener per group.
  return underSignals([cancelled], (signal) => managed(task, members, { rewarding, signal }));
}

/** The manager's rewards of a group. */
async function managed(
  task: Task,
  members: readonly RewardedPart[],
  { rewarding, signal }: { rewarding: GroupRewarding; signal: AbortSignal },
): Promise<RewardedGroup> {
  const judged = members.filter(({ reward }) => reward !== undefined);
  const { terms } = rewarding;
  const group = { task, terms, episodes: judged.map((member) => judgedEpisode(member, terms)) };
  let retries = 0;
  try {
    const given = await retrying(() => assigned(group, rewarding, signal), {
      retries: rewarding.retries ?? 0,
      signal,
      onRetry: () => {
        retries += 1;
      },
    });
    return { ...spread(given, members), retries };
  } catch (thrown) {
    signal.throwIfAborted();
    const ending = runEndingError(thrown);
    if (ending !== undefined) throw ending;
    // The error may quote a request with a key, and the problem is shown and recorded.
    const problem = redactor()(messageOf(thrown));
    const failed = { problem, failure: failureOf(thrown) };
    return { rewards: members.map(() => undefined), failed, retries };
  }
}

const penaltyOf = ({ components }: RewardedPart): number => components[invalidCallsComponent] ?? 0;

function judgedEpisode(member: RewardedPart, terms: readonly RewardTerm[]): JudgedEpisode {
  const { messages, calls, outcome, success, scores, metrics, reward = 0 } = member;
  // Summed again in the order of `combineRewards`, to avoid floating-point differences.
  const before =
    penaltyOf(member) === 0
      ? reward
      : terms.reduce((sum, { name, weight }) => sum + weight * (scores[name] ?? 0), 0);
  return { messages, calls, outcome, success, scores, metrics, reward: before };
}

function assigned(
  group: JudgedGroup,
  { name, source, manager, deadlineS: seconds }: GroupRewarding,
  signal: AbortSignal,
): Promise<GroupRewards> {
  const plugin = `Reward manager "${name}"`;
  const work = (timed: AbortSignal): Promise<GroupRewards> =>
    runningPlugin(
      plugin,
      async () => {
        const given = await manager.assign(group, timed);
        checkGiven(given, group.episodes.length);
        return given;
      },
      { source },
    );
  const late = `${plugin} took longer than ${seconds} s for a group (rollout.deadlines.gradingS).`;
  return seconds === undefined
    ? abortable(work(signal), signal)
    : inTime(work, { seconds, signal, late: new PluginError(late) });
}

/** @throws WrongValue that says what is wrong and what is allowed */
function checkGiven(given: GroupRewards, episodes: number): void {
  const { rewards, components, weights = {} }: Partial<GroupRewards> = isRecord(given) ? given : {};
  const one = `a list of ${episodes}, one for each episode`;
  if (!Array.isArray(rewards) || rewards.length !== episodes)
    throw new WrongValue(`rewards is ${showValue(rewards, 60)}; expected ${one}.`);
  for (const [index, reward] of rewards.entries())
    if (reward !== undefined) checkReward(`rewards[${index}]`, reward);
  checkNumbers('weights', weights);
  if (components === undefined) return;
  if (!Array.isArray(components) || components.length !== episodes)
    throw new WrongValue(`components is ${showValue(components, 60)}; expected ${one}.`);
  for (const [index, parts] of components.entries()) checkNumbers(`components[${index}]`, parts);
}

/** The rewards of the judged members, at their index in the group. */
function spread({ rewards, components, weights }: GroupRewards, members: readonly RewardedPart[]) {
  let next = 0;
  const places = members.map(({ reward }) => (reward === undefined ? undefined : next++));
  return {
    rewards: places.map((place, index) => {
      const reward = place === undefined ? undefined : rewards[place];
      const member = members[index];
      return reward === undefined || member === undefined ? undefined : reward + penaltyOf(member);
    }),
    components:
      components && places.map((place) => (place === undefined ? {} : (components[place] ?? {}))),
    weights,
  };
}
