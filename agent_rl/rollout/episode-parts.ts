import type { Environment } from '../core/plugins/environment.ts';
import type { Policy } from '../core/plugins/policy.ts';
import type { Sampling } from '../core/services/generator.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Tool } from '../core/plugins/tool.ts';
import type { WeightedReward } from './combine-rewards.ts';
import type { ToolRunner } from './tools/tool-runner.ts';

export interface EpisodeLimits {
  maxTurns: number;
  /** Prompt and all turns together. */
  maxEpisodeTokens: number;
  /** Most tokens sampled in one turn. */
  maxTurnTokens: number;
  /** The episode ends at this many malformed, unknown or invalid calls. */
  invalidCallLimit: number;
  /** Wall-clock limit; past it the episode is aborted and has no reward. */
  episodeTimeoutS: number;
}

/** What an episode is played with. Environment and tools are its own; the policy is shared. */
export interface EpisodeParts {
  policy: Policy;
  environment: Environment;
  /** For messages. */
  environmentName?: string;
  tools: ReadonlyMap<string, Tool>;
  /** Shared by all episodes of a run. */
  toolRunner: ToolRunner;
  /** Added to what the environment gives. */
  rewards: readonly WeightedReward[];
  /** Factor of the environment's own reward in the sum. 1 by default. */
  environmentWeight?: number;
  /** Subtracted from the reward for each malformed, unknown or invalid call. */
  invalidCallPenalty: number;
  limits: EpisodeLimits;
  /** Backend and level that run the policy's code, if any. */
  sandboxLevel?: string;
  /** Lets go of what was made for this episode. */
  close?(): Promise<void>;
}

/** Which episode to play. Everything random in it is a function of `seed`, task, `sample` and place. */
export interface EpisodeRequest {
  task: Task;
  /** Index within the group. */
  sample: number;
  /** Optimiser step whose weights sample it. */
  step: number;
  seed: number;
  sampling: Sampling;
}

/** Makes the parts of one episode. What it throws fails that episode. */
export type EpisodeMaker = (request: EpisodeRequest) => Promise<EpisodeParts> | EpisodeParts;
