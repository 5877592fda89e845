import { PluginError } from '../core/failure.ts';
import type { Verdict } from '../core/plugins/environment.ts';
import { runningPlugin } from '../core/plugins/plugin-failure.ts';
import { blindView, type EpisodeView, type RewardScore, scoreOf } from '../core/plugins/reward.ts';
import { checkNumber, checkReward, checkTurns, type TurnCounts } from './check-verdict.ts';

/** A reward added to the environment's own. */
export interface WeightedReward {
  name: string;
  /** Where it is from, for messages. */
  source?: string | undefined;
  weight: number;
  /** Name of the only tool whose calls it sees. */
  tool?: string | undefined;
  /** It only sees the prompt and the conversation. */
  blind?: boolean;
  /** `undefined` when the reward does not apply to the episode. */
  score: (episode: EpisodeView) => RewardScore | Promise<RewardScore>;
}

/** The environment's own reward among the scores. */
export const environmentScore = 'environment';

/** The component of the penalty for invalid calls. */
export const invalidCallsComponent = 'invalidCalls';

export interface CombineOptions {
  rewards: readonly WeightedReward[];
  /** Weight of the environment's reward. */
  environmentWeight: number;
  invalidCalls: number;
  invalidCallPenalty: number;
  turns: TurnCounts;
}

export interface CombinedReward {
  /** Absent when the verdict's is. */
  reward: number | undefined;
  /** The weighted terms, by name. */
  components: Readonly<Record<string, number>>;
  /** The unweighted scores of the rewards that apply; empty when the verdict has no reward. */
  scores: Readonly<Record<string, number>>;
  /** Scores withheld from a forfeited episode. */
  unpaid: Readonly<Record<string, number>> | undefined;
  /** What sampled turns earned of the reward; absent if the environment and the rewards do not say. */
  turnRewards: readonly number[] | undefined;
}

/**
 * The reward of an episode: the environment's and each other that applies, times their weights, minus the penalty of
 * each invalid call. In a forfeited episode other rewards can only lower the reward.
 *
 * @throws PluginError that names the reward that threw or returned an invalid number, or for a sum that is too large
 */
export async function combineRewards(
  episode: EpisodeView,
  { rewards, environmentWeight, invalidCalls, invalidCallPenalty, turns }: CombineOptions,
): Promise<CombinedReward> {
  const { verdict } = episode;
  if (verdict.reward === undefined) {
    const { components } = verdict;
    return { reward: undefined, components, scores: {}, unpaid: undefined, turnRewards: undefined };
  }
  const own = finite(environmentScore, verdict.reward);
  const scores: Record<string, number> = { [environmentScore]: own };
  let reward = environmentWeight === 0 ? 0 : environmentWeight * own;
  const components = timesWeight(verdict.components, environmentWeight);
  const add = (name: string, value: number): void => {
    const before = Object.hasOwn(components, name) ? (components[name] ?? 0) : 0;
    components[name] = before + finite(name, value);
    reward += value;
  };
  const unpaid: Record<string, number> = {};
  const byTurn = { sampled: turns.sampled ?? 0, sums: undefined as number[] | undefined };
  addByTurn(byTurn, verdict.turnRewards, environmentWeight);
  for (const { name, source, weight, tool, blind = false, score } of rewards) {
    const seen = tool === undefined ? episode : viewOfTool(episode, tool);
    const view = blind ? blindView(seen) : seen;
    const scored = async () => checkScore(await score(view), turns);
    const said = await runningPlugin(`Reward "${name}"`, scored, { source });
    const given = scoreOf(said);
    if (given === undefined) continue;
    const value = verdict.forfeited === true ? withoutGain(given, weight) : given;
    scores[name] = finite(name, value);
    if (value !== given) unpaid[name] = finite(name, given);
    else if (typeof said === 'object') addByTurn(byTurn, said, weight);
    add(name, weight * value);
  }
  if (invalidCalls > 0 && invalidCallPenalty !== 0) {
    add(invalidCallsComponent, -invalidCallPenalty * invalidCalls);
  }
  await runningPlugin('Rewards', () => checkReward('The sum of the rewards', reward));
  const isPaid = Object.keys(unpaid).length === 0;
  return {
    reward,
    components,
    scores,
    unpaid: isPaid ? undefined : unpaid,
    turnRewards: byTurn.sums,
  };
}

/** Adds what turns earned; a turn that was cut off earned nothing of it. */
function addByTurn(
  all: { sampled: number; sums: number[] | undefined },
  values: readonly number[] | undefined,
  weight: number,
): void {
  if (values === undefined || weight === 0) return;
  all.sums ??= Array.from({ length: all.sampled }, () => 0);
  for (const [turn, value] of values.entries()) all.sums[turn]! += weight * value;
}

/** Whether the task was solved, for a verdict that lets the rewards decide; otherwise undefined. */
export function solvedBy(
  { outcome, solvedAt }: Verdict,
  { reward }: Pick<CombinedReward, 'reward'>,
): Partial<Pick<Verdict, 'outcome' | 'success'>> {
  if (solvedAt === undefined || reward === undefined) return {};
  const success = reward >= solvedAt;
  return { success, outcome: success ? 'completed' : outcome };
}

const viewOfTool = (episode: EpisodeView, tool: string): EpisodeView => ({
  ...episode,
  messages: episode.messages.filter((message) => message.role !== 'tool' || message.name === tool),
  turns: episode.turns.map((turn) => ({
    ...turn,
    calls: turn.calls.filter(({ call }) => call.name === tool),
  })),
});

/** A score that cannot raise the reward; a score that is only logged stays as it is. */
const withoutGain = (score: number, weight: number): number => (score * weight > 0 ? 0 : score);

function timesWeight(parts: Verdict['components'], weight: number): Record<string, number> {
  if (weight === 0) return {};
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, weight * value]));
}

/** @throws WrongValue unless it is a finite number, one for each turn, or undefined */
function checkScore(value: RewardScore, turns: TurnCounts): RewardScore {
  if (Array.isArray(value)) checkTurns('its score', value, turns);
  else if (value !== undefined) checkNumber('its score', value);
  return value;
}

function finite(name: string, value: Verdict['reward']): number {
  if (value !== undefined && Number.isFinite(value)) return value;
  throw new PluginError(`Reward "${name}" must be a finite number or undefined; got ${value}.`);
}
