import { abortableStart } from '../../core/stopping/abort.ts';
import { openTrackers } from '../../compose/open-trackers.ts';
import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import { type Config, runLength } from '../../config/index.ts';
import { percentText } from '../../telemetry/index.ts';
import type { SftState } from '../../trainer/sft-trainer.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { OpenRun } from '../../runs/open-run.ts';
import { readTrainerState } from '../../runs/checkpoints.ts';
import { resumePoint } from '../../runs/resume-point.ts';
import { checkRunFolder } from '../../runs/run-folder.ts';
import { SessionUsage } from '../../runs/run-usage.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { type Began, withReport } from '../report/with-report.ts';
import { type Profiled, profiling } from '../train/profiled.ts';
import { checkpointRoom, freeBytes, roomText } from '../train/checkpoint-room.ts';
import { howToContinue } from '../train/how-to-continue.ts';
import { whereToBegin } from '../train/dry-run.ts';
import { expectedSupervised, timeText } from '../train/measure-speed.ts';
import { requireWithin, type SavedProgress } from '../train/restore-run.ts';
import { withTrackers } from '../train/tracked.ts';
import { openEvaluated, openLearner, type Supervised } from './open-supervised.ts';
import { leftOutConversations, readExamples, type SftExamples } from './sft-examples.ts';
import { type SftSession, sftUpdates, usageSoFar } from './sft-updates.ts';
import { refuseIdleFlags, sourcesOf } from '../train/trainer-options.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { planInWords } from '../../engine-thread/memory-plan.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';

/**
 * Supervised training on conversations, `<dataset.trainSplit>.jsonl` of each folder, with the loss on what
 * assistants said. The prompt shows the tools of the conversation, or else those of the config, as in rollouts.
 */
export async function sft(options: TrainingOptions): Promise<JobResult> {
  refuseIdleFlags(options);
  const { dataset, eval: evaluation } = options.loaded.config;
  const tasks = evaluation.every > 0 && { tasks: { evaluation: dataset.evalSplit } };
  const request = { ...options, trains: true, demonstrates: true, ...tasks };
  const run = await resolveRun(options, request);
  // Of a dry run the plan is the result.
  const shown = { ...options, quiet: options.quiet === true && !options.dryRun };
  const examples = await abortableStart(readExamples(run, shown), options.signal);
  if (!shown.quiet) await printRoom(run, options.print);
  if (options.dryRun) return dryRun(run, examples, options);
  return withReport(options.print, (began) =>
    profiling(options, (profiled) => superviseOpened(run, { examples, options, profiled, began })),
  );
}

/** All that a run opens is opened, so that what the run would refuse is refused here. */
async function dryRun(
  run: ResolvedRun,
  conversations: SftExamples,
  options: TrainingOptions,
): Promise<JobResult> {
  const { examples, tokens, leftOut } = conversations;
  const opened = new Cleanup();
  try {
    const resume = await whereToBegin(run, options, sourcesOf(run));
    if (resume?.checkpoint !== undefined)
      requireWithin((readTrainerState(resume.checkpoint) as SavedProgress).iteration, run.config);
    opened.add(openTrackers(run.chosen.trackers));
    const trained = opened.add(await openSupervised(run, conversations, options));
    const memory = await trained.plan();
    const lengths = examples.map((example) => example.tokens.length);
    const expected = options.measure
      ? await expectedSupervised(trained.learner, run.config, lengths)
      : undefined;
    options.print(
      `  memory        about ${mebibytes(memory.total)}: ${planInWords(memory)}\n${timeText(expected)}`,
    );
    return { dryRun: true, conversations: examples.length, tokens, memory, ...expected, leftOut };
  } finally {
    await opened.close();
  }
}

async function superviseOpened(
  run: ResolvedRun,
  {
    examples,
    options,
    profiled,
    began,
  }: { examples: SftExamples; options: TrainingOptions; profiled: Profiled; began: Began },
): Promise<JobResult> {
  const opened = new Cleanup();
  try {
    const sources = sourcesOf(run);
    const { resume: named } = options;
    const resume =
      named === undefined
        ? undefined
        : await resumePoint({ ...options, ...run, resume: named, sources });
    if (resume === undefined) checkRunFolder(run.config.run);
    else opened.defer(() => resume.lock.release());
    const trackers = openTrackers(run.chosen.trackers);
    // Also where the run does not begin: they may have started a process.
    opened.defer(() => trackers.close());
    const usage = opened.add(await SessionUsage.start());
    const trained = opened.add(await openSupervised(run, examples, options));
    const { quiet } = options;
    const record = opened.add(await OpenRun.open({ ...run, sources, resume, quiet }));
    began(record.folder);
    opened.add(trackers);
    const session = { ...trained, run, examples, record, resume, trackers, usage, options };
    return await record.logging(() => profiled(record, () => supervise(session)));
  } finally {
    await opened.close();
  }
}

/** What checkpoints will take. */
async function printRoom({ config, model }: ResolvedRun, print: (text: string) => void) {
  const { trainedParameters } = countParameters(model.description);
  const { outputDir } = config.run;
  const room = checkpointRoom(config, trainedParameters);
  print(roomText(room, await freeBytes(outputDir), outputDir).join('\n'));
}

async function supervise(session: SftSession & { options: TrainingOptions }): Promise<JobResult> {
  const { run, examples, record, trackers, usage, options } = session;
  const conversations = examples.examples.length;
  for (const note of run.notes) record.log.info(note);
  for (const warning of run.warnings) record.log.shown(warning);
  const { leftOut } = examples;
  if (leftOut.length > 0) record.log.shown(leftOutConversations(leftOut, leftOut.join(', ')));
  record.log.info(`Training on ${conversations} conversations of ${examples.tokens} tokens`);
  const { state, earlier, interrupted } = await sftUpdates(session);
  throwIfFailed(options.signal);
  const { path: checkpoint, weightsSha256 } = record.saved;
  await usage.memory.stop();
  const { sessions, wallSeconds, cpuSeconds, memory } = await usageSoFar(usage, earlier);
  const { loss = Number.NaN } = state;
  const missed = interrupted ? undefined : missedSuccess(run.config, state);
  const ended = {
    seed: run.config.run.seed,
    iterations: state.iteration,
    interrupted,
    sessions,
    loss,
    success: state.evaluated?.success ?? null,
    verdict: missed === undefined ? null : { is: 'missed', says: missed },
    ...(missed !== undefined && { ok: false }),
    conversations,
    tokens: examples.tokens,
    wallSeconds,
    cpuSeconds,
    weightsSha256,
    checkpoint,
    machines: record.machines,
    peakRssBytes: memory.peakRssBytes,
    warnings: run.warnings,
    leftOut,
  };
  const summary = await withTrackers(ended, { record, trackers });
  options.print(`Loss of the last step ${loss.toFixed(4)}\nCheckpoint: ${checkpoint}`);
  if (missed !== undefined) options.print(missed);
  if (hasReached(run.config, state)) options.print(reachedText(run.config, state));
  const onwards = hasReached(run.config, state)
    ? undefined
    : howToContinue(run.config, record.folder.path, { interrupted });
  if (onwards !== undefined) options.print(onwards);
  return { run: record.folder.path, ...summary };
}

/** Whether the success is reached that ends the training. */
const hasReached = ({ train: { until } }: Config, { evaluated }: SftState): boolean =>
  until !== undefined && (evaluated?.success ?? 0) >= until.success;

const reachedText = ({ train }: Config, { evaluated, iteration }: SftState): string =>
  `The wanted success was reached: ${percentText(evaluated?.success ?? 0)} after ${iteration} steps (train.until.success is ${percentText(train.until?.success ?? 0)}).`;

/** Says that training ended without the success that was to end it. */
function missedSuccess(config: Config, state: SftState): string | undefined {
  const { until, iterations } = config.train;
  const { last, planned } = runLength(config);
  // The beginning of a run may still reach it.
  if (until === undefined || hasReached(config, state) || last < planned) return undefined;
  const success = state.evaluated?.success ?? null;
  const came = success === null ? 'no attempt was judged' : percentText(success);
  return `The wanted success was not reached: ${came} after ${iterations} steps, and train.until.success is ${percentText(until.success)}. Show more or clearer demonstrations, raise train.iterations, or lower train.until.success.`;
}

/** A learner, with what attempts tasks where the run evaluates. */
const openSupervised = (
  run: ResolvedRun,
  examples: SftExamples,
  options: TrainingOptions,
): Promise<Supervised> =>
  (run.config.eval.every > 0 ? openEvaluated : openLearner)(run, examples, options);
