import { packMicroBatches } from '../algorithms/pack-micro-batches.ts';
import type {
  Learner,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
} from '../core/services/learner.ts';
import type { TracedDatum } from './build-data.ts';
import { addGaps, noGap, type ParityGap } from './parity.ts';

export interface EpochResult extends OptimStepMetrics {
  loss: number;
  /** Means over the weight sent, by name; see `LossMetrics.sums`. */
  means: Readonly<Record<string, number>>;
  gap: ParityGap;
  microBatches: number;
}

export interface EpochOptions {
  loss: LossSpec;
  microBatchTokens: number;
  /** What the learner pads a sequence's length to. */
  paddedLength?: ((length: number, microBatchTokens: number) => number) | undefined;
  optim: OptimStepOptions;
  /** Called between the gradient and the step; what it throws leaves the weights as they were. */
  check?: (gap: ParityGap) => void;
}

/** One pass over the data in micro-batches, and one optimiser step. */
export async function runEpoch(
  learner: Learner,
  data: readonly TracedDatum[],
  { loss, microBatchTokens, paddedLength, optim, check }: EpochOptions,
): Promise<EpochResult> {
  const batches = inMicroBatches(data, microBatchTokens, paddedLength);
  const passes: LossMetrics[] = [];
  let gap = noGap;
  for (const batch of batches) {
    const pass = await learner.forwardBackward(
      batch.map(({ datum }) => datum),
      loss,
    );
    passes.push(pass);
    gap = addGaps(gap, batch, pass.logProbs);
  }
  check?.(gap);
  const stepped = await learner.optimStep(optim);
  const total = passes.reduce((sum, pass) => sum + pass.loss, 0);
  return {
    ...stepped,
    loss: total,
    means: meansOf(passes, data),
    gap,
    microBatches: batches.length,
  };
}

/** Gives each datum the reference's log-probabilities. */
export async function withReference(
  learner: Learner,
  data: readonly TracedDatum[],
  temperature: number,
): Promise<TracedDatum[]> {
  const tokens = data.map(({ datum }) => datum.tokens);
  const reference = await learner.forward(tokens, { temperature, which: 'reference' });
  return data.map(({ datum, trajectory }, index) => {
    const refLogProbs = reference[index];
    if (refLogProbs === undefined)
      throw new Error(`The learner scored ${reference.length} of ${data.length} sequences.`);
    return { trajectory, datum: { ...datum, refLogProbs } };
  });
}

function inMicroBatches(
  data: readonly TracedDatum[],
  microBatchTokens: number,
  paddedLength?: EpochOptions['paddedLength'],
): TracedDatum[][] {
  const lengths = data.map(({ datum }) => datum.tokens.length);
  return packMicroBatches(lengths, microBatchTokens, paddedLength).map((batch) =>
    batch.flatMap((index) => data[index] ?? []),
  );
}

function meansOf(
  passes: readonly LossMetrics[],
  data: readonly TracedDatum[],
): Record<string, number> {
  const weight = data.reduce(
    (sum, { datum }) => sum + datum.weights.reduce((part, value) => part + value, 0),
    0,
  );
  const means: Record<string, number> = {};
  for (const { sums } of passes) {
    for (const [name, value] of Object.entries(sums))
      means[name] = (means[name] ?? 0) + value / weight;
  }
  return means;
}
