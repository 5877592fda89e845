import { AgentRlError } from '../errors.ts';

/** One sequence to learn from. Arrays have one entry per token; entry t is about token t as predicted from those before it. */
export interface TrainDatum {
  readonly tokens: Int32Array;
  /** Weight of token t in the loss; 0 where it is not trained. Aggregation is folded in here. */
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  /** Under the policy that sampled the tokens, nats. */
  readonly oldLogProbs: Float32Array;
  /** Under the frozen reference, nats; needed only with a KL term. */
  readonly refLogProbs?: Float32Array;
}

/** Of `Batch`: another number where an array's meaning changes. */
export const batchSchema = 1;

/** What one optimiser step learns from: typed arrays and plain JSON, so that it can leave the process. */
export interface Batch {
  readonly schema: typeof batchSchema;
  readonly data: readonly TrainDatum[];
}

export const batchOf = (data: readonly TrainDatum[]): Batch => ({ schema: batchSchema, data });

/** @throws AgentRlError `SHAPE_MISMATCH` for a batch of another version */
export function requireSchema({ schema }: { readonly schema: number }): void {
  if (schema === batchSchema) return;
  throw new AgentRlError(
    'SHAPE_MISMATCH',
    `A batch of schema ${schema} was sent to a learner that reads schema ${batchSchema}. Use the same version of agent_rl on both sides.`,
  );
}
