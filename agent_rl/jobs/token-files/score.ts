import { abortableStart } from '../../core/stopping/abort.ts';
import type { ModelJobOptions } from '../models/model-choice.ts';
import { LocalLearner } from '../../learner/local-learner.ts';
import { withProgress } from '../../telemetry/index.ts';
import { findModel, namesOf, usingModel, type RunningModel } from '../models/using-model.ts';
import type { JobResult } from '../job.ts';
import { float32Numbers } from './float32-numbers.ts';
import { refuseExisting, writingFresh } from './fresh-lines.ts';
import { InputRows, type InputRow, type ReadRow } from './input-rows.ts';
import { throwIfInterrupted, usageSince, usageText } from './job-usage.ts';
import { fieldsOf, rowIdOf, tokenIdsOf, type IdLimits, type RowId } from './row-ids.ts';

export interface ScoreOptions extends ModelJobOptions {
  /** JSONL file of `{"ids": [...], "id"?: ...}`. */
  input: string;
  /** File to write, which must not be there. */
  output: string;
  /** Most tokens, padding included, in one forward pass. */
  batchTokens: number;
}

/** Batches that are made of one stretch of the file: sequences of like length then share one. */
const batchesAhead = 4;

/**
 * Log-probabilities of given token ids at temperature 1, a line for each line of the input and in its order.
 *
 * @throws AgentRlError `DATASET_INVALID` naming every wrong line, before the weights are loaded; `OUTPUT_UNWRITABLE`,
 * `MODEL_INVALID`, `DEVICE_UNAVAILABLE`, `INTERRUPTED`. There is no output then.
 */
export async function score(options: ScoreOptions): Promise<JobResult> {
  const found = await findModel(options);
  refuseExisting(options.output);
  const rows = new InputRows(options.input, readScoreRow(found.config));
  const total = { lines: 0, tokens: 0 };
  const checking = rows.check(({ ids }) => {
    total.lines += 1;
    total.tokens += ids.length;
  });
  await abortableStart(checking, options.signal);
  return writingFresh(options.output, (write) =>
    usingModel(found, { ...options, memorySettings: '--batch-tokens' }, async (model) => {
      const started = performance.now();
      await withProgress({ label: 'score', total: total.lines, quiet: options.quiet }, (bar) =>
        scoreRows(rows, { model, write, options, onLines: (done) => bar.update(done) }),
      );
      const usage = usageSince(started, total.tokens);
      const { output } = options;
      options.print(
        `${total.lines} lines of ${total.tokens} tokens scored, ${usageText(usage)}: ${output}`,
      );
      const { device } = model.engine;
      return { output, ...namesOf(found), device, ...total, ...usage };
    }),
  );
}

async function scoreRows(
  rows: AsyncIterable<InputRow<ScoreRow>>,
  {
    model: { engine, config, parameters },
    write,
    options,
    onLines,
  }: {
    model: RunningModel;
    write: (line: object) => void;
    options: ScoreOptions;
    onLines: (done: number) => void;
  },
): Promise<void> {
  const { input, batchTokens, signal } = options;
  // Of the learner only the forward pass: it is the one that training compares with what was sampled.
  const learner = new LocalLearner(engine, config, parameters, {
    microBatchTokens: batchTokens,
    // Nothing is trained, so nothing of it is dropped or saved.
    adapter: { baseModel: '', seed: 0 },
  });
  let done = 0;
  try {
    for await (const window of windowsOf(rows, batchesAhead * batchTokens)) {
      throwIfInterrupted(signal);
      const logProbs = await learner.forward(
        window.map(({ row }) => row.ids),
        { temperature: 1, which: 'policy' },
      );
      for (const [i, { line, row }] of window.entries()) {
        const given = float32Numbers((logProbs[i] as Float32Array).subarray(1), `${input}:${line}`);
        const id = row.id === undefined ? {} : { id: row.id };
        write({ ...id, logprobs: [null, ...given] });
      }
      onLines((done += window.length));
    }
    throwIfInterrupted(signal);
  } finally {
    await learner.close();
  }
}

/** One sequence to score. */
export interface ScoreRow {
  id?: RowId;
  ids: Int32Array;
}

/** Reads `{"ids": [...], "id"?: ...}`: token ids of the model, no more of them than it has positions. */
export const readScoreRow =
  (model: IdLimits): ReadRow<ScoreRow> =>
  (value, report) => {
    const fields = fieldsOf(value, ['ids', 'id'], report);
    if (fields === undefined) return undefined;
    const id = rowIdOf(fields, report);
    const ids = tokenIdsOf(fields, model, report);
    if (ids === undefined) return undefined;
    if (ids.length > model.maxPositions) {
      report('ids', `has ${ids.length} tokens, and the model has ${model.maxPositions} positions.`);
    }
    return { ...id, ids };
  };

/**
 * Cuts rows into stretches that can be held at once.
 *
 * @yields Consecutive rows that together have at least this number of tokens; at the end fewer.
 */
export async function* windowsOf(
  rows: AsyncIterable<InputRow<ScoreRow>>,
  tokens: number,
): AsyncGenerator<readonly InputRow<ScoreRow>[]> {
  let window: InputRow<ScoreRow>[] = [];
  let held = 0;
  for await (const row of rows) {
    window.push(row);
    held += row.row.ids.length;
    if (held < tokens) continue;
    yield window;
    window = [];
    held = 0;
  }
  if (window.length > 0) yield window;
}
