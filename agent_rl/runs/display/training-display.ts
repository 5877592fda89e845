import type { Display, LiveNumbers, Metrics } from '../../telemetry/index.ts';
import type { Subscriber } from '../../trainer/trainer-contracts.ts';

/** Shows how far a training is. */
export interface TrainingDisplay {
  on: Subscriber;
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
