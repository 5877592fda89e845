import { openTrackers } from '../../compose/open-trackers.ts';
import { openEngine } from '../../compose/model/open-engine.ts';
import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { runLength } from '../../config/index.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import { OpenRun } from '../../runs/open-run.ts';
import { type RunTrackers, trackedMetrics } from '../../runs/trackers/run-trackers.ts';
import { SessionUsage } from '../../runs/run-usage.ts';
import { type Metrics, MetricsWriter, withProgress } from '../../telemetry/index.ts';
import { SFTTrainer } from '../../trainer/sft-trainer.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { type Began, withReport } from '../report/with-report.ts';
import { type Profiled, profiling } from './profiled.ts';
import { checkpointRoom, freeBytes, roomText } from './checkpoint-room.ts';
import { trackedRun, withTrackers } from './tracked.ts';
import { readExamples, type SftExamples } from './sft-examples.ts';
import { refuseWithoutResume, sourcesOf, trainOptions } from './trainer-options.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { largest } from '../../core/long-lists.ts';

/**
 * Supervised training on conversations, `<dataset.trainSplit>.jsonl` of each folder, with the loss on what
 * assistants said. The prompt shows the tools of the conversation, or else those of the config, as in rollouts.
 */
export async function sft(options: TrainingOptions): Promise<JobResult> {
  refuseWithoutResume(options);
  if (options.resume !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--resume continues reinforcement learning; a supervised run cannot be continued. Start it anew, or give its checkpoint with --model.',
    );
  }
  const run = await resolveRun(options, { ...options, trains: true, demonstrates: true });
  // Of a dry run the plan is the result.
  const shown = { ...options, quiet: options.quiet === true && !options.dryRun };
  const examples = await readExamples(run, shown);
  if (!shown.quiet) await printRoom(run, options.print);
  if (options.dryRun) {
    // Made and closed: what is wrong with their settings is known before a run.
    await openTrackers(run.chosen.trackers).close();
    const { length: conversations } = examples.examples;
    return { dryRun: true, conversations, tokens: examples.tokens };
  }
  return withReport(options.print, (began) =>
    profiling(options, (profiled) => superviseOpened(run, { examples, options, profiled, began })),
  );
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
    const trackers = openTrackers(run.chosen.trackers);
    // Also where the run does not begin: they may have started a process.
    opened.defer(() => trackers.close());
    const usage = opened.add(await SessionUsage.start());
    const engine = opened.add(await openLearner(run, examples, options.signal));
    // Nothing is held out.
    const sources = { ...sourcesOf(run), evalFiles: [] };
    const record = opened.add(await OpenRun.open({ ...run, sources, quiet: options.quiet }));
    began(record.folder);
    opened.add(trackers);
    const session = { run, examples, engine, record, trackers, usage, options };
    return await record.logging(() => profiled(record, () => supervise(session)));
  } finally {
    await opened.close();
  }
}

/** What the one checkpoint will take. */
async function printRoom({ config, model }: ResolvedRun, print: (text: string) => void) {
  const { trainedParameters } = countParameters(model.description);
  const { outputDir } = config.run;
  const once = { ...config, checkpoint: { every: 0, keepLast: 1, keepBest: false } };
  const room = checkpointRoom(once, trainedParameters);
  print(roomText(room, await freeBytes(outputDir), outputDir).join('\n'));
}

interface SftSession {
  run: ResolvedRun;
  examples: SftExamples;
  engine: EngineClient;
  record: OpenRun;
  trackers: RunTrackers;
  usage: SessionUsage;
  options: TrainingOptions;
}

async function supervise(session: SftSession): Promise<JobResult> {
  const { run, examples, engine, record, trackers, usage, options } = session;
  const conversations = examples.examples.length;
  for (const note of run.notes) record.log.info(note);
  for (const warning of run.warnings) record.log.shown(warning);
  record.log.info(`Training on ${conversations} conversations of ${examples.tokens} tokens`);
  trackers.begin(trackedRun(run, record.folder, { resumed: false }), record.log);
  const { state, interrupted, loss } = await updatesOf(session);
  const step = state.iteration;
  const { textFolder } = run.model;
  await record.saveCheckpoint({ reason: 'last', step, state, learner: engine.learner, textFolder });
  trackers.tell({ type: 'checkpoint', reason: 'last', iteration: step, ...record.saved });
  throwIfFailed(options.signal);
  const { path: checkpoint, weightsSha256 } = record.saved;
  const { wallSeconds, cpuSeconds } = await usage.soFar();
  const ended = {
    seed: run.config.run.seed,
    iterations: step,
    interrupted,
    loss,
    conversations,
    tokens: examples.tokens,
    wallSeconds,
    cpuSeconds,
    weightsSha256,
    checkpoint,
    machines: record.machines,
    peakRssBytes: (await usage.memory.stop()).peakRssBytes,
    warnings: run.warnings,
  };
  const summary = await withTrackers(ended, { record, trackers });
  options.print(`Loss of the last step ${loss.toFixed(4)}\nCheckpoint: ${checkpoint}`);
  return { run: record.folder.path, ...summary };
}

/** How many steps lie between two lines of the log. */
const reportEvery = 20;

/** All updates, each in `metrics.jsonl`; the loss is that of the last. */
async function updatesOf(session: SftSession) {
  const { run, examples, engine, record, trackers, options } = session;
  const { config } = run;
  const { last: total } = runLength(config);
  const metrics = new MetricsWriter(record.folder.metrics);
  let loss = Number.NaN;
  try {
    const shown = { label: 'sft', total, lineEvery: reportEvery, quiet: options.quiet };
    return await withProgress(shown, async (bar) => {
      const onIteration = (iteration: number, values: Metrics): void => {
        metrics.write(iteration, values);
        trackers.tell({ type: 'iteration', iteration, metrics: trackedMetrics(values) });
        loss = values['train/loss'] ?? loss;
        bar.update(iteration, { tokensPerSecond: values['speed/trainTokensPerSecond'] });
        if (iteration % reportEvery !== 0 && iteration !== total) return;
        record.log.info(`Step ${iteration} of ${total}: loss ${loss.toFixed(4)}`);
      };
      const trainer = new SFTTrainer(
        { learner: engine.learner, examples: examples.examples, observer: { onIteration } },
        {
          seed: config.run.seed,
          batchSize: config.train.batchSize,
          train: trainOptions(config),
        },
      );
      const { interrupted } = await trainer.train(options.signal).catch(async (thrown: unknown) => {
        await keepState(session, trainer.state());
        throw thrown;
      });
      return { state: trainer.state(), interrupted, loss };
    });
  } finally {
    metrics.close();
  }
}

/** Writes a checkpoint of the last whole step after a failure. */
async function keepState(
  { run, engine, record, trackers }: SftSession,
  state: { iteration: number },
) {
  const { iteration: step } = state;
  if (step === 0) return;
  const { textFolder } = run.model;
  try {
    await record.saveCheckpoint({
      reason: 'failed',
      step,
      state,
      learner: engine.learner,
      textFolder,
    });
    trackers.tell({ type: 'checkpoint', reason: 'failed', iteration: step, ...record.saved });
  } catch (problem) {
    // What failed first is what is thrown.
    record.log.error(`No checkpoint could be written after the failure: ${messageOf(problem)}`);
  }
}

/** An engine that learns and never samples. */
const openLearner = (
  { config, model }: ResolvedRun,
  { examples }: SftExamples,
  signal: AbortSignal,
) =>
  openEngine(config, model, {
    rows: 1,
    maxContextTokens: 16,
    training: {
      longestTokens: largest(examples.map(({ tokens }) => tokens.length)),
      loss: { name: 'cross_entropy' },
    },
    signal,
  });
