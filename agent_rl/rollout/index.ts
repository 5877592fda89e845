export { AsyncRolloutWorker } from './async-rollout-worker.ts';
export type { WeightedReward } from './combine-rewards.ts';
export { runEpisode } from './episode.ts';
export type { EpisodeLimits, EpisodeMaker, EpisodeParts, EpisodeRequest } from './episode-parts.ts';
export { failureFate, type Fate, fates, keepLedger, type Ledger, sampledTokens } from './ledger.ts';
export { planGroups } from './rollout-plan.ts';
export { type CollectOptions, RolloutWorker, type Rollouts } from './rollout-worker.ts';
export { ToolRunner } from './tool-runner.ts';
export { trajectoryLine } from './trajectory-line.ts';
