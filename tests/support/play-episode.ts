import { Type } from 'typebox';

import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import { keyOutsideRuns } from '#agent_rl/core/rollout.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import type { EpisodeParts } from '#agent_rl/rollout/episode-parts.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { ScriptedEnvironment } from './scripted-environment.ts';
import { memberOf } from './rollouts.ts';
import { says, type Script, ScriptedPolicy } from './scripted-policy.ts';

export const request = {
  task: { taskId: 't1', prompt: 'a task', metadata: {} },
  key: keyOutsideRuns(2),
  step: 5,
  seed: 9,
  sampling: unbiased,
};
const echo = {
  name: 'echo',
  description: 'Says it again',
  parameters: Type.Object({ text: Type.String() }),
};
export const limits = {
  maxTurns: 4,
  maxEpisodeTokens: 100,
  maxTurnTokens: 10,
  invalidCallLimit: 3,
};

export interface Setting {
  /** Answers at once by default. */
  script?: Script;
  environment?: Partial<Environment>;
  parts?: Partial<EpisodeParts>;
  limits?: Partial<typeof limits> & Partial<EpisodeParts['limits']>;
  tool?: (args: { text: string }) => unknown;
  promptTokens?: number;
  signal?: AbortSignal;
}

/** Plays one episode with one tool, `echo`. What came of it is seen together: the rollout and its one part. */
export const play = async (setting: Setting = {}) => {
  const policy = new ScriptedPolicy(setting.script ?? calling(), setting.promptTokens);
  const environment = new ScriptedEnvironment(setting.environment);
  const call = setting.tool ?? (({ text }) => ({ content: text }));
  const parts = {
    policy,
    world: worldOfOne(environment),
    tools: new Map([['echo', { call: async (args: never) => call(args) as never }]]),
    toolRunner: new ToolRunner([echo]),
    rewards: [],
    invalidCallPenalty: 0,
    limits: { ...limits, ...setting.limits },
    ...setting.parts,
  };
  const signal = setting.signal ?? new AbortController().signal;
  const rollout = await runEpisode(() => parts, request, signal);
  const { part } = memberOf(rollout);
  return { policy, environment, rollout, episode: { ...rollout, ...part } };
};

/** Calls the tool on the first turns, once by default, then answers. */
export const echoing = (turns = 1): Script =>
  calling(...Array.from({ length: turns }, () => ['echo', { text: 'x' }] as const));

/** Calls on the first turns what is listed, then answers. */
export const calling =
  (...calls: Parameters<typeof says>[1][]): Script =>
  ({ key: { turn } }) => {
    const call = calls[turn];
    return { message: call === undefined ? says('done') : says('', call) };
  };
