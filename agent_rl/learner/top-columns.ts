import { AgentRlError } from '../core/errors.ts';
import type { TopTokens, TrainDatum } from '../core/services/batch.ts';
import type { TopScores } from '../core/services/learner.ts';
import { noScores } from '../core/services/scorer.ts';
import type { TensorData } from '../engine/engine.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { byDatum, type TrainBatch } from './train-batch.ts';
import { teacherInputs } from './train-program.ts';

/** @throws AgentRlError `CONFIG_INVALID` for more likeliest tokens than there are */
export function requireTop(topK: number, { vocabSize }: Pick<ModelConfig, 'vocabSize'>): void {
  if (Number.isInteger(topK) && topK >= 0 && topK <= vocabSize) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The ${topK} likeliest tokens were requested of a model of ${vocabSize} tokens. Use a whole number up to that.`,
  );
}

/** What a program that scores gives for each trained token, for each datum. */
export function topScores(
  { logProbs, topIds, topLogProbs }: Readonly<Record<string, TensorData>>,
  batch: Pick<TrainBatch, 'origins'>,
  { data, topK }: { data: readonly TrainDatum[]; topK: number },
): TopScores[] {
  const own = byDatum(logProbs as Float32Array, batch, data);
  const scores = own.map((row) => ({ logProbs: row, top: noScores(row.length, topK).top }));
  if (topK > 0)
    for (const [i, { datum, place }] of batch.origins.entries()) {
      const { ids, logProbs: likely } = scores[datum]!.top;
      ids.set(topIds!.subarray(i * topK, (i + 1) * topK), place * topK);
      likely.set(topLogProbs!.subarray(i * topK, (i + 1) * topK), place * topK);
    }
  return scores;
}

/**
 * The teacher's likeliest tokens where each trained token is, as program inputs [N, topK]; empty for a loss that does not distil.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` for a datum without as many
 */
export function teacherColumns(
  { origins, weights }: Pick<TrainBatch, 'origins' | 'weights'>,
  data: readonly TrainDatum[],
  topK: number,
): Record<string, TensorData> {
  if (topK === 0) return {};
  const teachers = data.map((datum) => teacherOf(datum, topK));
  const ids = new Int32Array(weights.length * topK);
  const logProbs = new Float32Array(weights.length * topK);
  for (const [i, { datum, place }] of origins.entries()) {
    const [own, from] = [teachers[datum]!, place * topK];
    ids.set(own.ids.subarray(from, from + topK), i * topK);
    logProbs.set(own.logProbs.subarray(from, from + topK), i * topK);
  }
  return { [teacherInputs.ids]: ids, [teacherInputs.logProbs]: logProbs };
}

function teacherOf({ tokens, teacherTop }: TrainDatum, topK: number): TopTokens {
  const size = tokens.length * topK;
  const { ids, logProbs } = teacherTop ?? {};
  if (teacherTop !== undefined && ids?.length === size && logProbs?.length === size)
    return teacherTop;
  throw new AgentRlError(
    'SHAPE_MISMATCH',
    `A datum of ${tokens.length} tokens has ${ids?.length ?? 0} ids and ${logProbs?.length ?? 0} log-probabilities of the teacher; expected ${topK} of each per token.`,
  );
}
