import { resolveRun } from '../../compose/resolve-run.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { readTrainerState } from '../../runs/checkpoints.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { requireWithin, type SavedProgress } from '../train/restore-run.ts';
import { runSession } from '../train/session.ts';
import { refuseIdleFlags } from '../train/trainer-options.ts';
import { openEvaluated, openLearner } from './open-supervised.ts';
import { readExamples } from './sft-examples.ts';
import { SftTraining } from './sft-training.ts';

/**
 * Supervised training on conversations, `<dataset.trainSplit>.jsonl` of each folder, with the loss on what
 * assistants said. The prompt shows the tools of the conversation, or else the tools of the config, as in rollouts.
 */
export async function sft(options: TrainingOptions): Promise<JobResult> {
  refuseIdleFlags(options);
  const { dataset, eval: evaluation } = options.loaded.config;
  const evaluates = evaluation.every > 0;
  const tasks = evaluates && { tasks: { evaluation: dataset.evalSplit } };
  const run = await resolveRun(options, { ...options, trains: true, demonstrates: true, ...tasks });
  return runSession(run, options, async ({ opened, beginning: { checkpoint } }) => {
    // Of a dry run the plan is the result.
    const shown = { ...options, quiet: options.quiet === true && !options.dryRun };
    const examples = await abortableStart(readExamples(run, shown), options.signal);
    if (checkpoint !== undefined)
      requireWithin((readTrainerState(checkpoint) as SavedProgress).iteration, run);
    const open = evaluates ? openEvaluated : openLearner;
    const supervised = opened.add(await open(run, examples, options));
    return new SftTraining(run, examples, supervised, options);
  });
}
