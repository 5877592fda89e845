import { runLength } from '../../config/index.ts';
import { beforeAfterTable, summaryOf } from '../../runs/summary.ts';
import type { TrainingResult } from '../../trainer/trainer-contracts.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import type { JobResult } from '../job.ts';
import type { Training } from './training.ts';

/** Writes the summary of a run that has ended and shows the table. @returns what `summary.json` holds */
export async function conclude(training: Training, result: TrainingResult): Promise<JobResult> {
  const { run, context, agent, record } = training.parts;
  const { folder, saved } = record;
  await training.endMeasuring();
  const summary = summaryOf(result, {
    seed: run.config.run.seed,
    usage: await training.totals(),
    weightsSha256: saved.weightsSha256,
    checkpoint: saved.path,
    ...countParameters(run.model.description),
    sandboxLevel: agent.sandbox?.capabilities().level,
    ...training.reports(),
  });
  record.writeSummary(summary);
  if (result.before ?? result.after) context.print(beforeAfterTable(result));
  context.print(`Outputs: ${folder.path}\nCheckpoint: ${saved.path}`);
  const { last, planned } = runLength(run.config);
  if (result.interrupted) context.print(`Interrupted. Continue with --resume ${folder.path}`);
  else if (last < planned)
    context.print(
      `Ended after ${last} of ${planned} iterations. Continue with --resume ${folder.path} --max-iterations ${planned}`,
    );
  return { run: folder.path, summaryFile: folder.summary, ...summary };
}
