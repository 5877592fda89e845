import { messageOf } from '../../core/errors.ts';
import { runLength } from '../../config/index.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Learner } from '../../core/services/learner.ts';
import { rateText } from '../../runs/evaluation-table.ts';
import { failedText } from '../../runs/failed-episodes.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import type { ResumePoint } from '../../runs/resume-point.ts';
import { addUsage, type RunUsage, type SessionUsage } from '../../runs/run-usage.ts';
import { writeEvaluation } from '../../runs/episodes/write-evaluation.ts';
import { type RunTrackers, trackedMetrics } from '../../runs/trackers/run-trackers.ts';
import { type Metrics, MetricsWriter, withProgress } from '../../telemetry/index.ts';
import { evaluationMetrics } from '../../trainer/evaluate.ts';
import { type SftObserver, type SftState, SFTTrainer } from '../../trainer/sft-trainer.ts';
import type { CheckpointReason } from '../../trainer/trainer-contracts.ts';
import type { TrainingOptions } from '../job.ts';
import { restoreRun, type SavedProgress } from '../train/restore-run.ts';
import type { Supervised } from './open-supervised.ts';
import type { SftExamples } from './sft-examples.ts';
import { trackedRun } from '../train/tracked.ts';
import { trainOptions } from '../train/trainer-options.ts';

/** A session of supervised training with everything open. */
export interface SftSession {
  run: ResolvedRun;
  examples: SftExamples;
  learner: Learner;
  /** Attempts tasks with the present weights; absent where eval.every is 0. */
  evaluate: Supervised['evaluate'];
  record: OpenRun;
  /** The run that is resumed; a new one is begun when absent. */
  resume: ResumePoint | undefined;
  trackers: RunTrackers;
  usage: SessionUsage;
  options: Pick<TrainingOptions, 'signal' | 'quiet'>;
}

/** What a checkpoint holds besides the learner's own state. */
type SavedState = SftState & SavedProgress;

/** How many steps lie between two lines of the log. */
const reportEvery = 20;

/** Of this session so far and of those before it. */
export const usageSoFar = async (
  usage: SessionUsage,
  earlier: RunUsage | undefined,
): Promise<RunUsage> =>
  addUsage(earlier, { ...(await usage.soFar()), tokens: null, generation: null, sandbox: null });

/** All updates, from the start or from the checkpoint to resume from, each in `metrics.jsonl`. */
export async function sftUpdates(session: SftSession): Promise<{
  state: SftState;
  earlier: RunUsage | undefined;
  interrupted: boolean;
}> {
  const { run, learner, record, resume, trackers, options } = session;
  const { last } = runLength(run.config);
  const request = { record, learner, config: run.config };
  const restored = resume && (await restoreRun({ ...request, resume }));
  const saved: SavedState | undefined = restored?.state;
  const { usage: earlier, ...begun } = saved ?? { iteration: 0 };
  const from = saved === undefined ? {} : { from: begun.iteration };
  trackers.begin(
    trackedRun(run, record.folder, { resumed: resume !== undefined, ...from }),
    record.log,
  );
  const metrics = new MetricsWriter(record.folder.metrics);
  try {
    const shown = { label: 'sft', total: last, lineEvery: reportEvery, quiet: options.quiet };
    return await withProgress(shown, async (bar) => {
      const onIteration = (iteration: number, values: Metrics): void => {
        metrics.write(iteration, values);
        trackers.tell({ type: 'iteration', iteration, metrics: trackedMetrics(values) });
        bar.update(iteration, { tokensPerSecond: values['speed/trainTokensPerSecond'] });
        if (iteration % reportEvery !== 0 && iteration !== last) return;
        const loss = values['train/loss'] ?? Number.NaN;
        record.log.info(`Step ${iteration} of ${last}: loss ${loss.toFixed(4)}`);
      };
      const onCheckpoint = (reason: CheckpointReason, state: SftState): Promise<void> =>
        save(session, { reason, state, earlier });
      const onEvaluation = evaluationRecorder(session);
      const trainer = trainerOf(session, { onIteration, onEvaluation, onCheckpoint });
      trainer.restore(begun);
      const { interrupted } = await trainer.train(options.signal).catch(async (thrown: unknown) => {
        await saveAfterFailure(session, { state: trainer.state(), earlier });
        throw thrown;
      });
      return { state: trainer.state(), earlier, interrupted };
    });
  } finally {
    metrics.close();
  }
}

const trainerOf = (
  { run: { config }, learner, evaluate, record, examples: { examples } }: SftSession,
  observer: SftObserver,
): SFTTrainer =>
  new SFTTrainer(
    {
      learner,
      examples,
      observer,
      evaluate: evaluate && ((iteration) => evaluate(iteration, record.folder.name)),
    },
    {
      seed: config.run.seed,
      batchSize: config.train.batchSize,
      train: trainOptions(config),
      evaluateEvery: config.eval.every,
      checkpointEvery: config.checkpoint.every,
    },
  );

/** Writes the episodes of each evaluation, and says what came of it. */
function evaluationRecorder({
  run,
  record,
  trackers,
}: SftSession): Required<SftObserver>['onEvaluation'] {
  const { until } = run.config.train;
  const wanted = until === undefined ? '' : `; train.until.success is ${until.success}`;
  return (iteration, evaluation) => {
    writeEvaluation(record.folder, evaluation);
    const metrics = trackedMetrics(evaluationMetrics(evaluation));
    trackers.tell({ type: 'evaluation', when: 'during', iteration, metrics });
    record.log.info(`Step ${iteration}: ${rateText(evaluation)} solved${wanted}`);
    const failed = failedText(evaluation.rollouts);
    if (failed !== undefined) record.log.warn(`Step ${iteration}: ${failed}`);
  };
}

interface Progress {
  state: SftState;
  earlier: RunUsage | undefined;
}

async function save(
  { run, learner, record, trackers, usage }: SftSession,
  { reason, state, earlier }: Progress & { reason: CheckpointReason },
): Promise<void> {
  const { iteration } = state;
  await record.saveCheckpoint<SavedState>({
    reason,
    step: iteration,
    state: { ...state, usage: await usageSoFar(usage, earlier) },
    learner,
    textFolder: run.model.textFolder,
  });
  trackers.tell({ type: 'checkpoint', reason, iteration, ...record.saved });
}

/** Writes a checkpoint of the last whole step after a failure. */
async function saveAfterFailure(session: SftSession, progress: Progress): Promise<void> {
  if (progress.state.iteration === 0) return;
  try {
    await save(session, { ...progress, reason: 'failed' });
  } catch (problem) {
    // What failed first is what is thrown.
    session.record.log.error(
      `No checkpoint could be written after the failure: ${messageOf(problem)}`,
    );
  }
}
