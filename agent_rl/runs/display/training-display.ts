import type { Display, LiveNumbers, Metrics } from '../../telemetry/index.ts';
import type { TrainerPhase } from '../../trainer/trainer-contracts.ts';

/** Shows how far a training is. */
export interface TrainingDisplay {
  onPhase(phase: TrainerPhase): void;
  /** After each training episode. */
  onEpisode(): void;
  /** After each of so many episodes of an evaluation. */
  onEvaluationEpisode(done: number, episodes: number): void;
  onIteration(iteration: number, metrics: Metrics): void;
  onEvaluation(): void;
  close(): void;
}

export interface TrainingDisplayOptions extends Display {
  /** Of the run. */
  name: string;
  iterations: number;
  /** Until the run ends; undefined while nothing is measured. */
  secondsLeft: () => number | undefined;
}

/** What is shown of an iteration. */
export const liveNumbers = (metrics: Metrics): LiveNumbers => ({
  reward: metrics['rollout/rewardMean'],
  success: metrics['rollout/successRate'],
  failed: metrics['rollout/failedShare'],
  toolCallRate: metrics['rollout/toolCallRate'],
  tokensPerSecond: metrics['speed/decodeTokensPerSecond'],
});
