import type { TrainDatum } from '../../core/services/batch.ts';
import { gradNormOf } from './grad-norm.ts';
import { type Reduction, serviceBatches } from './service-data.ts';
import { refused, serviceLoss } from './service-loss.ts';
import { noStep, type TrainedModel } from './trained-model.ts';

const loss = serviceLoss({ name: 'cross_entropy' });
/** Largest ratio of two norms that pass for one, less 1. */
const tolerance = 1e-2;

/** A few tokens, of which some are trained. */
const sequence = (length: number, trained: readonly number[]): TrainDatum => ({
  tokens: Int32Array.from({ length }, (_, place) => (7 * place) % 11),
  weights: new Float32Array(length).map((_, place) => Number(trained.includes(place))),
  advantages: new Float32Array(length).fill(1),
  oldLogProbs: new Float32Array(length),
});

/** The same tokens of one sequence, and of two of other lengths that begin as it does. */
const inOne = [sequence(9, [1, 2, 3, 4, 5])];
const inTwo = [sequence(13, [1, 2]), sequence(7, [3, 4, 5])];

/**
 * What the service takes the gradient of, found on a model that nothing else is asked of: the same tokens must have the same
 * gradient however they are put into sequences. The protocol's documents say sums, and some services take means.
 *
 * @throws AgentRlError `CONFIG_INVALID` for one that does neither, and for one that does not say how large a gradient is
 */
export async function findReduction(model: TrainedModel): Promise<Reduction> {
  const tried: string[] = [];
  for (const reduction of ['sum', 'sequence-mean'] as const) {
    const norms: number[] = [];
    for (const data of [inOne, inTwo]) norms.push(await normOf(model, data, reduction));
    const [one = 0, two = 0] = norms;
    if (one > 0 && Math.abs(two / one - 1) < tolerance) return reduction;
    tried.push(`${reduction}: ${norms.join(' and ')}`);
  }
  throw refused(
    'What this run minimises',
    `the gradient of the same tokens has another norm in other sequences, as a sum of tokens and as a mean of sequences (${tried.join('; ')}). Use another service`,
  );
}

async function normOf(
  model: TrainedModel,
  sequences: readonly TrainDatum[],
  reduction: Reduction,
): Promise<number> {
  const { batches } = serviceBatches(sequences, { microBatchTokens: 1024, reduction, pads: true });
  for (const { data } of batches) await model.pass({ data, loss });
  const norm = gradNormOf(await model.optimStep(noStep));
  if (norm !== undefined) return norm;
  throw refused(
    'What this run minimises',
    'it does not say how large a gradient is, so that nobody can see whether it takes sums. Set learner.reduction to sum, as the protocol has it, or to sequence-mean where its makers say so',
  );
}
