import { sum } from '../../algorithms/statistics.ts';
import { batchOf, type TrainDatum } from '../../core/services/batch.ts';
import type {
  Learner,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
} from '../../core/services/learner.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { TracedDatum } from '../build-data.ts';

export interface StepResult extends OptimStepMetrics {
  loss: number;
  /** Means over the weight sent, by name; see `LossMetrics.sums`. */
  means: Readonly<Record<string, number>>;
  microBatches: number;
  /** Of sequences up to their last trained token, padding excluded. */
  tokens: number;
  /** That the learner computed, padding included; absent where it does not say. */
  computedTokens?: number | undefined;
}

export interface StepOptions {
  loss: LossSpec;
  optim: OptimStepOptions;
  /** Called between the gradient and the step; if it throws, the weights stay unchanged. */
  check?: ((gradient: LossMetrics) => void) | undefined;
}

/** One optimiser step: a gradient from all of the data, and the step. */
export async function takeStep(
  learner: Learner,
  data: readonly { datum: TrainDatum }[],
  { loss: spec, optim, check }: StepOptions,
): Promise<StepResult> {
  const batch = batchOf(data.map(({ datum }) => datum));
  const weight = sum(batch.data.map(({ weights }) => weights.reduce((a, b) => a + b, 0)));
  try {
    const gradient = await learner.forwardBackward(batch, spec);
    check?.(gradient);
    const { loss, microBatches, computedTokens } = gradient;
    const means = Object.fromEntries(
      Object.entries(gradient.sums).map(([name, value]) => [name, value / weight]),
    );
    const stepped = await learner.optimStep(optim);
    const tokens = sum(batch.data.map((datum) => datum.tokens.length));
    return { ...stepped, loss, means, microBatches, tokens, computedTokens };
  } catch (thrown) {
    // The original failure is thrown, even if the learner no longer answers.
    await learner.discardGradients().catch(() => undefined);
    throw thrown;
  }
}

/** Gives each datum the reference's log-probabilities, where it is trained. */
export async function withReference(
  reference: Scorer,
  data: readonly TracedDatum[],
  temperature: number,
): Promise<TracedDatum[]> {
  const tokens = data.map(({ datum }) => datum.tokens);
  const wanted = data.map(({ datum }) => datum.weights);
  const scored = await reference.score(tokens, { temperature, wanted });
  return data.map(({ datum, ...traced }, index) => {
    const refLogProbs = scored[index];
    if (refLogProbs === undefined)
      throw new Error(`The reference model scored ${scored.length} of ${data.length} sequences.`);
    return { ...traced, datum: { ...datum, refLogProbs } };
  });
}
