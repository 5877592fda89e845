import { packMicroBatches } from '../algorithms/pack-micro-batches.ts';
import { sum } from '../algorithms/statistics.ts';
import type {
  Learner,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
  TrainDatum,
} from '../core/services/learner.ts';
import type { TracedDatum } from './build-data.ts';

export interface EpochResult extends OptimStepMetrics {
  loss: number;
  /** Means over the weight sent, by name; see `LossMetrics.sums`. */
  means: Readonly<Record<string, number>>;
  microBatches: number;
  /** Of whole sequences, padding excluded. */
  tokens: number;
}

export interface EpochOptions<Item> {
  loss: LossSpec;
  microBatchTokens: number;
  /** What the learner pads a sequence's length to. */
  paddedLength?: ((length: number, microBatchTokens: number) => number) | undefined;
  optim: OptimStepOptions;
  /** Called after the gradient of each micro-batch. */
  onPass?: (batch: readonly Item[], pass: LossMetrics) => void;
  /** Called between the gradient and the step; what it throws leaves the weights as they were. */
  check?: () => void;
}

/** One pass over the data in micro-batches, and one optimiser step. */
export async function runEpoch<Item extends { datum: TrainDatum }>(
  learner: Learner,
  data: readonly Item[],
  { loss: spec, microBatchTokens, paddedLength, optim, onPass, check }: EpochOptions<Item>,
): Promise<EpochResult> {
  const lengths = data.map(({ datum }) => datum.tokens.length);
  const batches = packMicroBatches(lengths, microBatchTokens, paddedLength);
  const weight = sum(data.map(({ datum }) => datum.weights.reduce((a, b) => a + b, 0)));
  const means: Record<string, number> = {};
  let loss = 0;
  for (const indices of batches) {
    const batch = indices.flatMap((index) => data[index] ?? []);
    const pass = await learner.forwardBackward(
      batch.map(({ datum }) => datum),
      spec,
    );
    loss += pass.loss;
    for (const [name, value] of Object.entries(pass.sums))
      means[name] = (means[name] ?? 0) + value / weight;
    onPass?.(batch, pass);
  }
  check?.();
  const stepped = await learner.optimStep(optim);
  return { ...stepped, loss, means, microBatches: batches.length, tokens: sum(lengths) };
}

/** Gives each datum the reference's log-probabilities, where it is trained. */
export async function withReference(
  learner: Learner,
  data: readonly TracedDatum[],
  temperature: number,
): Promise<TracedDatum[]> {
  const tokens = data.map(({ datum }) => datum.tokens);
  const wanted = data.map(({ datum }) => datum.weights);
  const reference = await learner.forward(tokens, { temperature, which: 'reference', wanted });
  return data.map(({ datum, trajectory }, index) => {
    const refLogProbs = reference[index];
    if (refLogProbs === undefined)
      throw new Error(`The learner scored ${reference.length} of ${data.length} sequences.`);
    return { trajectory, datum: { ...datum, refLogProbs } };
  });
}
