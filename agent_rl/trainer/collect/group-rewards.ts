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

/** The reward manager of a run and what it works with. */
export interface GroupRewarding {
  /** As the run file names it. */
  name: string;
  /** Where it is from, for messages. */
  source?: string | undefined;
  manager: Pick<RewardManager, 'assign'>;
  /** The rewards that have a weight, the environment's among them, in the order they are added. */
  terms: readonly RewardTerm[];
  /** Seconds that the manager may take for a group; without them it is waited for. */
  deadlineS?: number | undefined;
  /** Most times it is asked again when what failed may pass. 0 by default. */
  retries?: number | undefined;
}

/** What the members of a group are compared by. */
export interface RewardedGroup {
  /** One per member, in order; `undefined` where the system failed or the manager gave none. */
  rewards: readonly (number | undefined)[];
  /** What the manager says each reward is made of. */
  components?: GroupRewards['components'] | undefined;
  /** What it multiplied each term by in this group. */
  weights?: GroupRewards['weights'] | undefined;
  /** Times that the manager was asked again. */
  retries: number;
  /** Why there are no rewards, when the manager failed. */
  failed?: NonNullable<Part['unjudged']> | undefined;
}

/** A member of a group as far as its reward goes. */
export type RewardedPart = Pick<
  Part,
  'messages' | 'calls' | 'outcome' | 'success' | 'scores' | 'components' | 'metrics' | 'reward'
>;

/**
 * The rewards a group is compared by: those the episodes have by themselves or, with a manager, what that makes of them,
 * less what each lost for invalid calls. Members without a reward are not shown to the manager.
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
  // Its own, since the run's would have as many listeners as there are groups.
  return underSignals([cancelled], (signal) => managed(task, members, { rewarding, signal }));
}

/** What the manager makes of a group. */
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
    // What was thrown may quote a request with a key in it, and the problem is shown and written.
    const problem = redactor()(messageOf(thrown));
    const failed = { problem, failure: failureOf(thrown) };
    return { rewards: members.map(() => undefined), failed, retries };
  }
}

const penaltyOf = ({ components }: RewardedPart): number => components[invalidCallsComponent] ?? 0;

function judgedEpisode(member: RewardedPart, terms: readonly RewardTerm[]): JudgedEpisode {
  const { messages, calls, outcome, success, scores, metrics, reward = 0 } = member;
  // The sum again, in the order of `combineRewards`: what is added back to a sum need not give its last bit.
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

/** What judged members were given, at their places among all. */
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
