import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { JobResult, TrainingOptions, JobContext } from '../job.ts';
import { withReport } from '../report/with-report.ts';
import { openTraining, type Training } from './training.ts';
import { beforeAfterTable } from '../../runs/evaluation-table.ts';
import { runToResume } from '../../runs/resume-point.ts';
import { summaryOf } from '../../runs/summary.ts';
import type { TrainingResult } from '../../trainer/trainer-contracts.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { type ModelServices, openModelServices } from '../../compose/model/open-model-services.ts';
import { openTrackers } from '../../compose/open-trackers.ts';
import { tryRunSandbox } from '../../compose/open-run-sandbox.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { freeBytes } from './checkpoint-room.ts';
import { howToContinue, tooShortToLearn } from './how-to-continue.ts';
import { expectedTime } from './measure-speed.ts';
import { withSelection } from './selection.ts';
import { withTrackers } from './tracked.ts';
import { openedFacts, planFacts, planText, trainingPlan } from './plan.ts';
import { refuseWithoutResume } from './trainer-options.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { profiling } from './profiled.ts';
import { warnIfFewer } from '../../../dataset/tasks/task-sets.ts';

/**
 * Trains an agent by reinforcement learning: preview, plan, baseline, training, evaluation, table.
 *
 * @returns what `summary.json` holds, and where the run lies.
 * @throws AgentRlError for what the user can fix, before anything is written wherever possible.
 */
export async function train(options: TrainingOptions): Promise<JobResult> {
  refuseWithoutResume(options);
  const { trainSplit, evalSplit } = options.loaded.config.dataset;
  const tasks = { train: trainSplit, evaluation: evalSplit };
  const run = await resolveRun(options, { ...options, trains: true, tasks });
  const { dataset, run: settings } = run.config;
  const endless = run.tasks.sets.some((set) => set.endless !== undefined);
  const all = endless ? 'those without end' : run.tasks.train.length;
  if (options.quiet !== true)
    options.print(previewText(run.tasks.train, settings.previewTasks, all));
  const { checkpoint, eval: evaluation } = run.config;
  const left = run.tasks.train.length - (checkpoint.keepBest ? evaluation.selectionTasks : 0);
  // A generator makes as many as are drawn.
  if (!endless) warnIfFewer('dataset.maxSamples', dataset.maxSamples, left, options.print);
  if (options.dryRun) {
    if (options.resume !== undefined) runToResume({ ...run, resume: options.resume });
    return dryRun(withSelection(run), options);
  }
  const { print } = options;
  return withReport(print, (began) =>
    profiling(options, async (profiled) => {
      const training = await openTraining(run, options);
      const { record } = training.parts;
      began(record.folder);
      try {
        return await record.logging(() =>
          profiled(record, async () => conclude(training, await training.train())),
        );
      } finally {
        await training.close();
      }
    }),
  );
}

/** Writes the summary of a run that has ended and shows the table. @returns what `summary.json` holds */
async function conclude(training: Training, result: TrainingResult): Promise<JobResult> {
  const { run, context, agent, record, trackers, usage } = training.parts;
  const { folder, saved } = record;
  await usage.memory.stop();
  const ended = summaryOf(result, {
    seed: run.config.run.seed,
    usage: await training.totals(),
    weightsSha256: saved.weightsSha256,
    checkpoint: saved.path,
    ...countParameters(run.model.description),
    sandboxLevel: agent.sandbox?.capabilities().level,
    prices: run.config.run.prices,
    machines: record.machines,
    warnings: run.warnings,
    ...training.reports(),
  });
  const summary = await withTrackers(ended, { record, trackers });
  if (result.before ?? result.after) context.print(beforeAfterTable(result));
  const short = tooShortToLearn(run.config);
  if (short !== undefined) context.print(short);
  context.print(`Outputs: ${folder.path}\nCheckpoint: ${saved.path}`);
  const onwards = howToContinue(run.config, folder.path, result);
  if (onwards !== undefined) context.print(onwards);
  return { run: folder.path, summaryFile: folder.summary, ...summary };
}

/** The plan and no run; the engine is opened to measure what the expected time follows from. */
async function dryRun(run: ResolvedRun, { print, signal }: JobContext): Promise<JobResult> {
  const { config } = run;
  const facts = planFacts(run);
  const plan = trainingPlan(config, facts);
  const opened = new Cleanup();
  try {
    // Made and closed: what is wrong with their settings is known before a run.
    opened.add(openTrackers(run.chosen.trackers));
    const request = { workers: config.rollout.workers, trains: true, signal };
    const services = (await openModelServices(run, request, opened)) as Required<ModelServices>;
    services.incidents.listen((text) => print(`Note: ${text}`));
    const expected = await abortableStart(expectedTime(services, config, plan), signal);
    const known = { ...expected, bytesForCheckpoints: await freeBytes(config.run.outputDir) };
    const sandbox = facts.sandboxes === 0 ? undefined : await tryRunSandbox(config, signal);
    const made = {
      ...(await openedFacts(services.engines, known, sandbox?.tier)),
      ...(sandbox !== undefined && { sandboxesSkipped: sandbox.skipped }),
    };
    print(planText(config, facts, plan, made));
    return { dryRun: true, plan, ...made };
  } finally {
    await opened.close();
  }
}

/**
 * The first tasks of a split, indented.
 *
 * @param all how many there are
 */
export function previewText(
  tasks: readonly Task[],
  count: number,
  all: number | string = tasks.length,
): string {
  const shown = tasks.slice(0, count).map(({ taskId, prompt }) => {
    const lines = visibleControls(prompt)
      .split('\n')
      .map((line) => `    ${line}`);
    return [`  ${visibleControls(taskId)}`, ...lines].join('\n');
  });
  return [`Tasks (${Math.min(count, tasks.length)} of ${all})`, ...shown].join('\n');
}
