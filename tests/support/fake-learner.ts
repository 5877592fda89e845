import type { Batch, TrainDatum } from '#agent_rl/core/services/batch.ts';
import type {
  Learner,
  LearnerInfo,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
} from '#agent_rl/core/services/learner.ts';
import type { WeightPublisher, WeightRef } from '#agent_rl/core/services/weights.ts';

/** A learner that learns nothing and remembers its calls. Its log-probabilities are the old ones plus `gap`. */
export class FakeLearner implements Learner, WeightPublisher {
  readonly batches: (readonly TrainDatum[])[] = [];
  readonly losses: LossSpec[] = [];
  readonly steps: OptimStepOptions[] = [];
  published = 0;
  discarded = 0;
  gap = 0;

  async use(): Promise<void> {
    // It draws nothing.
  }

  /** What `forward` gives for the policy; for the reference it is -0.25. */
  ofPolicy = -0.25;

  readonly forwards: Parameters<Learner['forward']>[1][] = [];

  async forward(...[tokens, options]: Parameters<Learner['forward']>) {
    this.forwards.push(options);
    const value = options.which === 'policy' ? this.ofPolicy : -0.25;
    return tokens.map((sequence) => new Float32Array(sequence.length).fill(value));
  }

  async describe(): Promise<LearnerInfo> {
    return { name: 'fake', parameters: 1, trainedParameters: 1, publishes: ['memory'] };
  }

  async forwardBackward({ data }: Batch, loss: LossSpec): Promise<LossMetrics> {
    this.batches.push(data);
    this.losses.push(loss);
    const weight = data.flatMap(({ weights }) => [...weights]).reduce((sum, one) => sum + one, 0);
    const logProbs = data.map(({ oldLogProbs, weights }) =>
      oldLogProbs.map((value, i) => (weights[i] === 0 ? 0 : value + this.gap)),
    );
    return { loss: weight, sums: { ratio: weight }, logProbs, microBatches: 1 };
  }

  async optimStep(options: OptimStepOptions): Promise<OptimStepMetrics> {
    this.steps.push(options);
    return { gradNorm: 1, parameterNorm: 2 };
  }

  async saveState(): Promise<{ weightsSha256: string }> {
    return { weightsSha256: '0'.repeat(64) };
  }

  async loadState(): Promise<void> {}

  async discardGradients(): Promise<void> {
    this.discarded += 1;
  }

  async exportWeights(): Promise<WeightRef> {
    this.published += 1;
    return { version: this.published, kind: 'memory', location: 'fake' };
  }

  /** Stands for the bus: publishing is nothing but an export. */
  async publish(_signal?: AbortSignal): Promise<WeightRef> {
    return this.exportWeights();
  }

  async close(): Promise<void> {}
}
