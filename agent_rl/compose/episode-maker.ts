import type { Container } from 'inversify';

import type { Config } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Task } from '../core/tasks/task.ts';
import { ToolChoice } from '../environments/tool-choice.ts';
import { environmentOf } from './task-environments.ts';
import type {
  Environment,
  ExternalEnvironment,
  MultiAgentEnvironment,
} from '../core/plugins/environment.ts';
import type { Policy } from '../core/plugins/policy.ts';
import {
  type EpisodeView,
  type RewardFunction,
  type RewardShared,
  withoutAnswers,
} from '../core/plugins/reward.ts';
import type { Tool, ToolShared } from '../core/plugins/tool.ts';
import type { Sandbox } from '../core/services/sandbox.ts';
import type { WeightedReward } from '../rollout/combine-rewards.ts';
import type { EpisodeRetries } from '../rollout/run-episode.ts';
import type { EpisodeLimits, EpisodeMaker, Gateway } from '../rollout/episode-parts.ts';
import { oneAgent, worldOfAgent, worldOfOne, worldOfSeveral } from '../rollout/world.ts';
import type { ToolRunner } from '../rollout/tools/tool-runner.ts';
import { sandboxOf } from '../sandbox/open-sandbox.ts';
import type { ChosenPlugins, ChosenReward, ChosenTool } from './plugins/choose-plugins.ts';
import { construct, episodeContainer } from './plugins/container.ts';

export interface EpisodeMakerOptions {
  config: Config;
  chosen: ChosenPlugins;
  /** Of the run. */
  container: Container;
  policy: Policy;
  /** The named policies. */
  others?: ReadonlyMap<string, Policy> | undefined;
  toolRunner: ToolRunner;
  sandbox: Sandbox | undefined;
  /** The endpoint through which external agents reach the model. */
  gateway?: Gateway | undefined;
  /** By the environment's name in the run. */
  environmentsShared?: ReadonlyMap<string, ToolShared> | undefined;
  /** By the tool's name. */
  toolsShared: ReadonlyMap<string, ToolShared>;
  /** By the reward's name. */
  rewardsShared: ReadonlyMap<string, RewardShared>;
}

/** The config's settings for playing episodes, except plugins. */
export function episodeSettings({ algorithm, policy, rollout }: Config) {
  const { maxTurns, maxEpisodeTokens, invalidCallLimit, invalidCallPenalty } = rollout;
  const { retries, toolThrows } = rollout.failures;
  const { environmentS, gradingS } = rollout.deadlines;
  const limits: EpisodeLimits = {
    maxTurns,
    maxTurnTokens: policy.maxTurnTokens,
    maxEpisodeTokens,
    invalidCallLimit,
    retries,
    deadlines: { environmentS, gradingS },
  };
  const retried = (['infrastructure-error', 'agent-failed', 'grader-error'] as const).filter(
    (outcome) => rollout.outcomes[outcome] === 'retry',
  );
  return {
    limits,
    invalidCallPenalty,
    environmentWeight: algorithm.environmentWeight,
    toolThrows,
    retries: { count: retries, outcomes: retried } satisfies EpisodeRetries,
  };
}

/** Creates a new environment, tools and rewards for each episode, in a container with its task. */
export function episodeMaker(options: EpisodeMakerOptions): EpisodeMaker {
  const { config, chosen, container, policy, others, toolRunner, sandbox } = options;
  const { limits, invalidCallPenalty, environmentWeight } = episodeSettings(config);
  const keepsState = chosen.tools.some(({ entry }) => entry.spec.keepsState === true);
  const maker: EpisodeMaker = ({ task, key }) => {
    const services = {
      sandbox: sandbox && sandboxOf(sandbox, [key.run, task.taskId, key.sample].join('/')),
    };
    const own = episodeContainer(container, { task, ...services });
    const blind = episodeContainer(container, { task: withoutAnswers(task), ...services });
    const { environment, ...played } = playedIn(options, task, own);
    const tools = episodeTools(chosen.tools, own, options.toolsShared, environment);
    const bringing = environmentOf(chosen.environments, task)?.entry.spec.ownTools === true;
    const brought = bringing ? ((environment as Environment).tools?.() ?? []) : [];
    for (const { name } of brought) tools.byName.set(name, calledAs(environment as Tool, name));
    return {
      policy,
      others,
      ...played,
      ...(keepsState && { replays: 'never' as const }),
      tools: tools.byName,
      toolRunner: bringing ? toolRunner.with(brought) : toolRunner,
      rewards: chosen.rewards.map((reward) =>
        scoring(reward, reward.blind ? blind : own, options.rewardsShared),
      ),
      environmentWeight,
      invalidCallPenalty,
      limits,
      gateway: options.gateway,
      close: tools.close,
      sandboxLevel: sandbox?.capabilities().level,
    };
  };
  maker.agentsOf = (task) => environmentOf(chosen.environments, task)?.agents ?? oneAgent;
  return maker;
}

/**
 * Instances of the tools of one episode; isolated ones need none.
 *
 * @param environment of the episode, which answers calls of the tools that it brings
 */
export function episodeTools(
  chosen: readonly ChosenTool[],
  container: Container,
  toolsShared: ReadonlyMap<string, ToolShared>,
  environment?: object,
): { byName: Map<string, Tool>; close: () => Promise<void> } {
  const instances = new Map<string, Tool>();
  const instanceOf = (tool: ChosenTool): Tool => {
    if (tool.set?.isEnvironment === true) return environment as Tool;
    const name = tool.set?.name ?? tool.entry.spec.name;
    const shared = toolsShared.get(name);
    const made = instances.get(name) ?? construct<Tool>(container, { ...tool, shared });
    instances.set(name, made);
    return made;
  };
  const inThread = chosen.filter(({ entry }) => entry.spec.isolated === undefined);
  const byName = new Map(
    inThread.map((tool): [string, Tool] => {
      const instance = instanceOf(tool);
      const of = tool.set?.of;
      if (of === undefined) return [tool.entry.spec.name, instance];
      return [tool.entry.spec.name, calledAs(instance, of)];
    }),
  );
  const close = async (): Promise<void> => {
    for (const one of instances.values()) await one.close?.();
  };
  return { byName, close };
}

/** A tool as part of what holds it. */
const calledAs = (holder: Tool, of: string): Tool => ({
  call: (args, context) => holder.call(args, { ...context, of }),
});

/** The environment of a task. */
function playedIn(
  { chosen: { environments }, environmentsShared }: EpisodeMakerOptions,
  task: Task,
  container: Container,
) {
  const chosen = environmentOf(environments, task);
  // Tasks without an environment are refused before a run starts; these come from a program.
  if (chosen === undefined) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `Task ${JSON.stringify(task.taskId)} names no environment of this run (${environments.map(({ name }) => name).join(', ')}).`,
    );
  }
  const { requires = [], external = false, replays, elsewhere } = chosen.entry.spec;
  const { name: environmentName, entry } = chosen;
  const named = { environmentName, environmentSource: entry.source, replays, elsewhere };
  const shared = environmentsShared?.get(environmentName);
  const environment = construct<object>(container, { ...chosen, shared });
  const played = { environment, ...named };
  if (external) return { world: worldOfAgent(environment as ExternalEnvironment), ...played };
  if (chosen.agents.length > 1)
    return {
      world: worldOfSeveral(environment as MultiAgentEnvironment, chosen.agents),
      ...played,
    };
  const inner = environment as Environment;
  const choosesTool = environments.length > 1 && requires.length > 0;
  return { world: worldOfOne(choosesTool ? new ToolChoice(inner, requires) : inner), ...played };
}

function scoring(
  reward: ChosenReward,
  container: Container,
  shared: EpisodeMakerOptions['rewardsShared'],
): WeightedReward {
  const { name, weight, blind, tool, entry } = reward;
  const scorer = construct<Scoring>(container, { ...reward, shared: shared.get(name) }, 'score');
  const score = (episode: EpisodeView) => scorer.score(episode);
  return { name, source: entry.source, weight, blind, score, tool };
}

/** A reward instance of an episode. */
export interface Scoring {
  score(episode: EpisodeView): ReturnType<RewardFunction>;
}
