import type { Container } from 'inversify';

import type { Config } from '../config/index.ts';
import type { Environment } from '../core/plugins/environment.ts';
import type { Needed } from '../core/plugins/given.ts';
import type { Policy } from '../core/plugins/policy.ts';
import type { RewardShared } from '../core/plugins/reward.ts';
import type { Tool, ToolShared } from '../core/plugins/tool.ts';
import { SANDBOX, type Sandbox } from '../core/services/sandbox.ts';
import type { WeightedReward } from '../rollout/combine-rewards.ts';
import type { EpisodeRetries } from '../rollout/episode.ts';
import type { EpisodeLimits, EpisodeMaker } from '../rollout/episode-parts.ts';
import type { ToolRunner } from '../rollout/tools/tool-runner.ts';
import { sandboxOf } from '../sandbox/open-sandbox.ts';
import type { Chosen, ChosenPlugins, ChosenReward } from './plugins/choose-plugins.ts';
import { construct, episodeContainer, rewardFunction } from './plugins/container.ts';

export interface EpisodeMakerOptions {
  config: Config;
  chosen: ChosenPlugins;
  /** Of the run. */
  container: Container;
  policy: Policy;
  toolRunner: ToolRunner;
  sandbox: Sandbox | undefined;
  /** By the tool's name. */
  toolsShared: ReadonlyMap<string, ToolShared>;
  /** By the reward's name. */
  rewardsShared: ReadonlyMap<string, RewardShared>;
}

/** What a config says of playing episodes, besides the plugins they are played with. */
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
  const retried = (['infrastructure-error', 'grader-error'] as const).filter(
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

/** Makes environment, tools and rewards anew for each episode, in a container that knows its task. */
export function episodeMaker(options: EpisodeMakerOptions): EpisodeMaker {
  const { config, chosen, container, policy, toolRunner, sandbox } = options;
  const { limits, invalidCallPenalty, environmentWeight } = episodeSettings(config);
  return ({ task, sample }) => {
    const own = episodeContainer(
      container,
      task,
      sandbox === undefined ? [] : [[SANDBOX, sandboxOf(sandbox, `${task.taskId}/${sample}`)]],
    );
    const inThread = chosen.tools.filter(({ entry }) => entry.spec.isolated === undefined);
    const tools = new Map(
      inThread.map((tool) => {
        const { name } = tool.entry.spec;
        const shared = options.toolsShared.get(name);
        return [name, construct<Tool>(own, { ...naming(tool), shared })];
      }),
    );
    return {
      policy,
      environment: make(own, chosen.environment) as Environment,
      environmentName: chosen.environment.entry.spec.name,
      tools,
      toolRunner,
      rewards: chosen.rewards.map((reward) => scoring(reward, own, options.rewardsShared)),
      environmentWeight,
      invalidCallPenalty,
      limits,
      close: async () => {
        for (const one of tools.values()) await one.close?.();
      },
      ...(sandbox && { sandboxLevel: sandbox.capabilities().level }),
    };
  };
}

function scoring(
  { tool, ...reward }: ChosenReward,
  container: Container,
  shared: EpisodeMakerOptions['rewardsShared'],
): WeightedReward {
  const { name, weight } = reward;
  const score = rewardFunction(container, { ...naming(reward), shared: shared.get(name) });
  return { name, weight, score, ...(tool !== undefined && { tool }) };
}

const naming = ({ entry, settings }: Chosen<{ name: string; needs?: readonly Needed[] }>) => ({
  name: entry.spec.name,
  plugin: entry.plugin,
  settings,
  needs: entry.spec.needs,
});

/** Makes a plugin that needs nothing but what the container holds. */
export const make = (container: Container, chosen: Chosen<{ name: string }>): object =>
  construct<object>(container, naming(chosen));
