import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Config } from '../../config/index.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { planInWords } from '../../engine-thread/memory-plan.ts';
import { rateText } from '../../runs/evaluation-table.ts';
import { failedText } from '../../runs/failed-episodes.ts';
import { lostText } from '../../runs/run-records.ts';
import { addUsage } from '../../runs/run-usage.ts';
import { createProgress, MetricsWriter, percentText } from '../../telemetry/index.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import type { Subscriber, TrainingOutput } from '../../trainer/trainer-contracts.ts';
import { type SftState, trainSft } from '../../trainer/train-sft.ts';
import type { TrainingOptions } from '../job.ts';
import {
  bytesForCheckpoints,
  checkpointRoom,
  freeBytes,
  roomText,
} from '../train/checkpoint-room.ts';
import { howToContinue } from '../train/how-to-continue.ts';
import { expectedSupervised, timeText } from '../train/measure-speed.ts';
import type { Beginning, ReadyTraining, Session } from '../train/session.ts';
import { trainOptions } from '../train/trainer-options.ts';
import type { Supervised } from './open-supervised.ts';
import { leftOutConversations, type SftExamples } from './sft-examples.ts';

/** How many steps lie between two lines of the log. */
const reportEvery = 20;

/** Supervised training with everything open. */
export class SftTraining implements ReadyTraining<SftState> {
  constructor(
    readonly run: ResolvedRun,
    private readonly examples: SftExamples,
    private readonly supervised: Supervised,
    private readonly options: TrainingOptions,
  ) {}

  get learner() {
    return this.supervised.learner;
  }

  async plan({ folder }: Beginning) {
    const { config, parameters } = this.run;
    const { examples, tokens, leftOut } = this.examples;
    const { outputDir } = config.run;
    const room = checkpointRoom(this.run, parameters.trainedParameters);
    const free = await (folder === undefined
      ? freeBytes(outputDir)
      : bytesForCheckpoints(folder, room.each));
    const memory = await this.supervised.plan();
    const lines = [
      ...roomText(room, free, outputDir),
      `  memory        about ${mebibytes(memory.total)}: ${planInWords(memory)}`,
    ];
    if (!this.options.dryRun) return { text: lines.join('\n'), facts: {} };
    const lengths = examples.map((example) => example.tokens.length);
    const expected =
      this.options.measure === true
        ? await expectedSupervised(this.learner, this.run, lengths)
        : undefined;
    return {
      text: [...lines, timeText(expected)].join('\n'),
      facts: { conversations: examples.length, tokens, memory, ...expected, leftOut },
    };
  }

  async begin({
    record: { folder, log },
    opened,
  }: Session<SftState>): Promise<readonly Subscriber[]> {
    const { config, length } = this.run;
    const { examples, tokens, leftOut } = this.examples;
    const { quiet } = this.options;
    if (leftOut.length > 0) log.shown(leftOutConversations(leftOut, leftOut.join(', ')));
    log.info(`Training on ${examples.length} conversations of ${tokens} tokens`);
    const { last } = length;
    const file = opened.add(new MetricsWriter(folder.metrics));
    const bar = createProgress({ label: 'sft', total: last, lineEvery: reportEvery, quiet });
    opened.defer(() => bar.stop());
    const { until } = config.train;
    const wanted = until === undefined ? '' : `; train.until.success is ${until.success}`;
    return [
      (event) => {
        if (event.type === 'end') bar.stop();
        if (event.type === 'state-lost') log.error(lostText(event.problem));
        if (event.type === 'iteration') {
          const { iteration, metrics } = event;
          file.write(iteration, metrics);
          bar.update(iteration, { tokensPerSecond: metrics['speed/trainTokensPerSecond'] });
          const loss = metrics['train/loss'] ?? Number.NaN;
          if (iteration % reportEvery === 0 || iteration === last)
            log.info(`Step ${iteration} of ${last}: loss ${loss.toFixed(4)}`);
        }
        if (event.type === 'evaluation') {
          const { iteration, evaluation } = event;
          log.info(`Step ${iteration}: ${rateText(evaluation)} solved${wanted}`);
          const failed = failedText(evaluation.rollouts);
          if (failed !== undefined) log.warn(`Step ${iteration}: ${failed}`);
        }
      },
    ];
  }

  /** Of this session so far and of those before it. */
  async progress({ usage, saved }: Session<SftState>) {
    const session = { ...(await usage.soFar()), tokens: null, generation: null, sandbox: null };
    return { usage: addUsage(saved?.usage, session) };
  }

  async train(session: Session<SftState> & TrainingOutput<SftState>) {
    const { config } = this.run;
    const { evaluate } = this.supervised;
    const { record, usage, saved, emit, save, journal } = session;
    const { state, interrupted } = await trainSft(
      {
        options: {
          seed: config.run.seed,
          batchSize: config.train.batchSize,
          train: trainOptions(config),
          evaluateEvery: config.eval.every,
          checkpointEvery: config.checkpoint.every,
        },
        from: saved,
        learner: this.learner,
        examples: this.examples.examples,
        evaluate: evaluate && ((iteration) => evaluate(iteration, record.folder.name, journal)),
        emit,
        save,
      },
      this.options.signal,
    );
    throwIfFailed(this.options.signal);
    await usage.memory.stop();
    return this.#concluded(session, { state, interrupted });
  }

  async #concluded(
    session: Session<SftState>,
    { state, interrupted }: { state: SftState; interrupted: boolean },
  ) {
    const { config, warnings } = this.run;
    const { examples, tokens, leftOut } = this.examples;
    const { folder, saved, machines } = session.record;
    const { usage } = await this.progress(session);
    const { sessions, wallSeconds, cpuSeconds, memory } = usage;
    const { loss = Number.NaN } = state;
    const missed = interrupted ? undefined : missedSuccess(this.run, state);
    const reached = hasReached(config, state);
    return {
      summary: {
        seed: config.run.seed,
        iterations: state.iteration,
        interrupted,
        sessions,
        loss,
        success: state.evaluated?.success ?? null,
        verdict: missed === undefined ? null : { is: 'missed', says: missed },
        ok: missed === undefined ? undefined : false,
        conversations: examples.length,
        tokens,
        wallSeconds,
        cpuSeconds,
        weightsSha256: saved.weightsSha256,
        checkpoint: saved.path,
        machines,
        peakRssBytes: memory.peakRssBytes,
        warnings,
        leftOut,
      },
      shown: [
        `Loss of the last step ${loss.toFixed(4)}\nCheckpoint: ${saved.path}`,
        missed,
        reached
          ? reachedText(config, state)
          : howToContinue(this.run, folder.path, { interrupted }),
      ],
    };
  }
}

/** Whether the success is reached that ends the training. */
const hasReached = ({ train: { until } }: Config, { evaluated }: SftState): boolean =>
  until !== undefined && (evaluated?.success ?? 0) >= until.success;

const reachedText = ({ train }: Config, { evaluated, iteration }: SftState): string =>
  `The target success was reached: ${percentText(evaluated?.success ?? 0)} after ${iteration} steps (train.until.success is ${percentText(train.until?.success ?? 0)}).`;

/** Says that training ended without the success that was to end it. */
function missedSuccess({ config, length }: ResolvedRun, state: SftState): string | undefined {
  const { until, iterations } = config.train;
  // The beginning of a run may still reach it.
  if (until === undefined || hasReached(config, state) || length.last < length.planned)
    return undefined;
  const success = state.evaluated?.success ?? null;
  const came = success === null ? 'no attempt was scored' : percentText(success);
  return `The target success was not reached: ${came} after ${iterations} steps, and train.until.success is ${percentText(until.success)}. Show more or clearer demonstrations, raise train.iterations, or lower train.until.success.`;
}
