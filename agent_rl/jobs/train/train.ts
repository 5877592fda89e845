import { resolveRun } from '../../compose/resolve-run.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { withReport } from '../report/with-report.ts';
import { openTraining, type Training } from './training.ts';
import { beforeAfterTable } from '../../runs/evaluation-table.ts';
import { summaryOf } from '../../runs/summary.ts';
import { recordedRun } from '../../runs/query/recorded-run.ts';
import { runChecks } from '../../runs/signs/run-checks.ts';
import { runEvidence } from '../../runs/signs/run-evidence.ts';
import { type RunVerdict, runVerdict } from '../../runs/signs/run-verdict.ts';
import { promptOf } from '../explain/prompt-of.ts';
import type { TrainingResult } from '../../trainer/trainer-contracts.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { dryRun } from './dry-run.ts';
import { howToContinue, tooShortToLearn } from './how-to-continue.ts';
import { withTrackers } from './tracked.ts';
import { refuseIdleFlags } from './trainer-options.ts';
import { messageOf } from '../../core/errors.ts';
import { type Log, visibleControls } from '../../telemetry/index.ts';
import { profiling } from './profiled.ts';
import { warnIfFewer } from '../../../dataset/tasks/task-sets.ts';

/**
 * Trains an agent by reinforcement learning: preview, plan, baseline, training, evaluation, table.
 *
 * @returns what `summary.json` holds, and where the run lies.
 * @throws AgentRlError for what the user can fix, before anything is written wherever possible.
 */
export async function train(options: TrainingOptions): Promise<JobResult> {
  refuseIdleFlags(options);
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
  if (options.dryRun) return dryRun(run, options);
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
    leftOut: training.parts.leftOut,
    ...training.reports(),
  });
  // Reading what a long run recorded takes a while: its result is there though the process ends meanwhile.
  record.writeSummary(ended);
  const verdict = result.interrupted ? undefined : await verdictOf(folder.path, ended, record.log);
  const judged = {
    ...ended,
    verdict: verdict ?? null,
    ...(verdict?.is === 'worse' && { ok: false }),
  };
  const summary = await withTrackers(judged, { record, trackers });
  if (result.before ?? result.after) context.print(beforeAfterTable(result));
  const short = tooShortToLearn(run.config);
  if (short !== undefined) context.print(short);
  context.print(`Outputs: ${folder.path}\nCheckpoint: ${saved.path}`);
  const onwards = howToContinue(run.config, folder.path, result);
  if (onwards !== undefined) context.print(onwards);
  if (verdict !== undefined && short === undefined)
    context.print(verdictText(verdict, folder.path));
  return { run: folder.path, summaryFile: folder.summary, ...summary };
}

/** Whether the run got better, by what it recorded; a warning where that cannot be read. */
async function verdictOf(
  path: string,
  summary: JobResult,
  log: Log,
): Promise<RunVerdict | undefined> {
  try {
    const recorded = { ...recordedRun(path), summary };
    const evidence = await runEvidence(recorded, promptOf(recorded.config));
    return runVerdict(evidence, runChecks(evidence));
  } catch (problem) {
    log.warn(`What the run recorded could not be judged: ${messageOf(problem)}`);
    return undefined;
  }
}

const verdictText = ({ is, says }: RunVerdict, path: string): string =>
  visibleControls(
    is === 'better' || is === 'control' ? says : `${says}\nMore: agent-rl runs explain ${path}`,
  );

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
