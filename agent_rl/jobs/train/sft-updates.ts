import { runLength } from '../../config/index.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Learner } from '../../core/services/learner.ts';
import { paddedLength } from '../../learner/train-batch.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import { type Metrics, MetricsWriter, withProgress } from '../../telemetry/index.ts';
import { SFTTrainer } from '../../trainer/sft-trainer.ts';
import type { SftExamples } from './sft-examples.ts';
import { trainOptions } from './trainer-options.ts';

interface SftUpdates {
  run: ResolvedRun;
  examples: SftExamples;
  engine: Learner;
  record: OpenRun;
  options: { signal: AbortSignal };
}

/** How many steps lie between two movements of the progress bar and between two lines of the log. */
const reportEvery = 20;

/** All updates, each in `metrics.jsonl`; the loss is that of the last. */
export async function sftUpdates({ run, examples, engine, record, options }: SftUpdates) {
  const { config } = run;
  const { last: total } = runLength(config);
  const metrics = new MetricsWriter(record.folder.metrics);
  let loss = Number.NaN;
  try {
    return await withProgress({ label: 'sft', total }, async (bar) => {
      const onIteration = (iteration: number, values: Metrics): void => {
        metrics.write(iteration, values);
        loss = values['train/loss'] ?? loss;
        if (iteration % reportEvery !== 0 && iteration !== total) return;
        bar.update(iteration, { tokensPerSecond: values['speed/trainTokensPerSecond'] });
        record.log.info(`Step ${iteration} of ${total}: loss ${loss.toFixed(4)}`);
      };
      const trainer = new SFTTrainer(
        { learner: engine, examples: examples.examples, paddedLength, observer: { onIteration } },
        {
          seed: config.run.seed,
          batchSize: config.train.batchSize,
          microBatchTokens: config.algorithm.microBatchTokens,
          train: trainOptions(config),
        },
      );
      const { interrupted } = await trainer.train(options.signal);
      return { state: trainer.state(), interrupted, loss };
    });
  } finally {
    metrics.close();
  }
}
