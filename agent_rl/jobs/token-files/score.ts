import type { ModelJobOptions } from '../models/model-choice.ts';
import { LocalLearner } from '../../learner/local-learner.ts';
import { withProgress } from '../../telemetry/index.ts';
import { findModel, namesOf, usingModel, type RunningModel } from '../models/using-model.ts';
import type { JobResult } from '../job.ts';
import { float32Numbers } from './float32-numbers.ts';
import { refuseExisting, writingFresh } from './fresh-lines.ts';
import { InputRows, type InputRow } from './input-rows.ts';
import { throwIfInterrupted, usageSince, usageText } from './job-usage.ts';
import { readScoreRow, windowsOf, type ScoreRow } from './score-rows.ts';

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
  await rows.check(({ ids }) => {
    total.lines += 1;
    total.tokens += ids.length;
  });
  return writingFresh(options.output, (write) =>
    usingModel(found, { ...options, memorySettings: '--batch-tokens' }, async (model) => {
      const started = performance.now();
      await withProgress({ label: 'score', total: total.lines }, (bar) =>
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

interface Scoring {
  model: RunningModel;
  write: (line: object) => void;
  options: Pick<ScoreOptions, 'input' | 'batchTokens' | 'signal'>;
  onLines: (done: number) => void;
}

async function scoreRows(
  rows: AsyncIterable<InputRow<ScoreRow>>,
  { model: { engine, config, parameters }, write, options, onLines }: Scoring,
): Promise<void> {
  const { input, batchTokens, signal } = options;
  // Of the learner only the forward pass: it is the one that training compares with what was sampled.
  const learner = new LocalLearner(engine, config, parameters, {
    microBatchTokens: batchTokens,
    // Nothing is trained, so nothing of it is dropped or saved.
    adapter: { baseModel: '', seed: 0 },
    publish: () => Promise.resolve(),
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
