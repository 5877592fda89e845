import type { Environment } from '../core/plugins/environment.ts';
import type { Policy } from '../core/plugins/policy.ts';
import type { Sampling } from '../core/services/sampling.ts';
import type { Task } from '../core/tasks/task.ts';
import type { Tool } from '../core/plugins/tool.ts';
import type { WeightedReward } from './combine-rewards.ts';
import type { ToolRunner } from './tools/tool-runner.ts';

export interface EpisodeLimits {
  readonly maxTurns: number;
  /** Prompt and all turns together. */
  readonly maxEpisodeTokens: number;
  /** Most tokens sampled in one turn. */
  readonly maxTurnTokens: number;
  /** The episode ends at this many malformed, unknown or invalid calls. */
  readonly invalidCallLimit: number;
  /** Wall-clock limit; past it the episode is aborted and has no reward. */
  readonly episodeTimeoutS: number;
}

/** What an episode is played with. Environment and tools are its own; the policy is shared. */
export interface EpisodeParts {
  readonly policy: Policy;
  readonly environment: Environment;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Shared by all episodes of a run. */
  readonly toolRunner: ToolRunner;
  /** Added to what the environment gives. */
  readonly rewards: readonly WeightedReward[];
  /** Factor of the environment's own reward in the sum. 1 by default. */
  readonly environmentWeight?: number;
  /** Subtracted from the reward for each malformed, unknown or invalid call. */
  readonly invalidCallPenalty: number;
  readonly limits: EpisodeLimits;
  /** Backend and level that run the policy's code, if any. */
  readonly sandboxLevel?: string;
  /** Lets go of what was made for this episode. */
  close?(): Promise<void>;
}

/** Which episode to play. Everything random in it is a function of `seed`, task, `sample` and place. */
export interface EpisodeRequest {
  readonly task: Task;
  /** Index within the group. */
  readonly sample: number;
  /** Optimiser step whose weights sample it. */
  readonly step: number;
  readonly seed: number;
  readonly sampling: Sampling;
}

/** Makes the parts of one episode. What it throws fails that episode. */
export type EpisodeMaker = (request: EpisodeRequest) => Promise<EpisodeParts> | EpisodeParts;
