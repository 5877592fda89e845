import { resolveRun } from '../../compose/resolve-run.ts';
import type { JobResult } from '../job.ts';
import { conclude } from './conclude.ts';
import { dryRun } from './dry-run.ts';
import { showPreview } from './preview.ts';
import { openTraining } from './training.ts';
import type { TrainingOptions } from './training-options.ts';

/**
 * Trains an agent by reinforcement learning: preview, plan, baseline, training, evaluation, table.
 *
 * @returns what `summary.json` holds, and where the run lies.
 * @throws AgentRlError for what the user can fix, before anything is written wherever possible.
 */
export async function train(options: TrainingOptions): Promise<JobResult> {
  const { trainSplit, evalSplit } = options.loaded.config.dataset;
  const tasks = { train: trainSplit, evaluation: evalSplit };
  const run = await resolveRun(options, { ...options, trains: true, tasks });
  showPreview(run, options.print);
  if (options.dryRun) return dryRun(run, options);
  const training = await openTraining(run, options);
  try {
    return await training.parts.record.logging(async () =>
      conclude(training, await training.train()),
    );
  } finally {
    await training.close();
  }
}
