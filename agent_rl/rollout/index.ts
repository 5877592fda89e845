export type { WeightedReward } from './combine-rewards.ts';
export * from './episode-parts.ts';
export type { ModuleHooks } from '../threads/thread.ts';
export type { TokenUse } from './tokens/ledger.ts';
export {
  AsyncRolloutWorker,
  type CollectOptions,
  type Rollouts,
  RolloutWorker,
} from './rollout-worker.ts';
export type { EpisodeRetries } from './run-episode.ts';
export {
  type EpisodeAgent,
  type ToAgents,
  type World,
  worldOfOne,
  worldOfSeveral,
} from './world.ts';
export {
  type CallOptions,
  type ToolMessages,
  ToolRunner,
  type ToolThrows,
} from './tools/tool-runner.ts';
