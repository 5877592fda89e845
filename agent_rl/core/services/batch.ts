import { AgentRlError } from '../errors.ts';
import { showValue } from '../show-value.ts';
import type { RolloutKey } from '../rollout.ts';

/** Identifies the row's sequence in the run: joins rows of a batch with the journal. */
export interface SequenceOfRow {
  readonly key: RolloutKey;
  readonly agent: string;
  /** Index among the sequences of the agent's part. */
  readonly sequence: number;
  readonly taskId: string;
  readonly step: number;
}

/** The likeliest tokens in each place of a sequence of T tokens, [T x topK]: the likeliest first; zeros where they are not requested. */
export interface TopTokens {
  readonly topK: number;
  readonly ids: Int32Array;
  /** Nats. */
  readonly logProbs: Float32Array;
}

/** One sequence to learn from. Arrays have one entry per token; entry t is about token t as predicted from those before it. */
export interface TrainDatum {
  /**
   * For learners and readers outside: the trainer itself joins by the sequence (`trainer/learned-parts.ts`). Absent where no
   * rollout made it, such as a demonstration.
   */
  readonly from?: SequenceOfRow | undefined;
  readonly tokens: Int32Array;
  /** Weight of token t in the loss; 0 where it is not trained. Aggregation is folded in here. */
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  /** Under the policy that sampled the tokens, nats. */
  readonly oldLogProbs: Float32Array;
  /** Under the frozen reference, nats; needed only with a KL term. */
  readonly refLogProbs?: Float32Array | undefined;
  /** The teacher's likeliest tokens in each place, at the temperature of the loss; needed only where the loss distils. */
  readonly teacherTop?: TopTokens | undefined;
}

/**
 * Version of a row on its whole way; another number where a column's meaning changes. A row is one sequence of one
 * agent's part in a rollout. Generator and policy fill tokens, sources, log-probabilities and versions of the weights, the environment
 * and rewards what it earned, the reward manager what it is compared by (`Part`); the journal has a rollout
 * with the sequences of its parts. What is trained on goes on with advantages and weights (`TrainDatum`) to loss and learner.
 */
export const batchSchema = 3;

/** What one optimiser step learns from: typed arrays and plain JSON, so that it can leave the process. */
export interface Batch {
  readonly schema: typeof batchSchema;
  readonly data: readonly TrainDatum[];
}

export const batchOf = (data: readonly TrainDatum[]): Batch => ({ schema: batchSchema, data });

/**
 * Refuses a batch or a record of another version.
 *
 * @param record its place, such as `train.jsonl:3`; absent for a batch
 * @throws AgentRlError `SHAPE_MISMATCH` for a batch of another version, `DATASET_INVALID` for such a record
 */
export function requireSchema({ schema }: { readonly schema: unknown }, record?: string): void {
  if (schema === batchSchema) return;
  if (record === undefined)
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `The learner received a batch of schema ${showValue(schema)} but reads schema ${batchSchema}. Use the same version of agent_rl on both sides.`,
    );
  const form =
    typeof schema === 'number' && schema > batchSchema
      ? 'by a newer version, in a format that this version cannot read'
      : 'by an older version, in a format that is no longer supported';
  throw new AgentRlError(
    'DATASET_INVALID',
    `The run was recorded ${form} (schema ${showValue(schema)}; this version reads ${batchSchema}): ${record}. Use the version of agent_rl that wrote it.`,
  );
}
