import { type Config, resolvedYaml } from '../../config/index.ts';
import { packageVersion } from '../../core/package-root.ts';
import { onlyAgent } from '../../core/rollout.ts';
import type { Learner } from '../../core/services/learner.ts';
import type { WeightPublisher } from '../../core/services/weights.ts';
import type { Log } from '../../telemetry/index.ts';
import type { Rollouts } from '../../rollout/rollout-worker.ts';
import type { TrainingEvent } from '../../trainer/trainer-contracts.ts';
import type { RunFolder } from '../run-folder.ts';
import { codeOf, sha256 } from './code-of.ts';
import { JournalWriter } from './journal-writer.ts';
import { learnedEvent } from './learned-event.ts';
import { recordedAfter, type RecordedWork } from './recorded-rollouts.ts';
import { RunJournal } from './run-journal.ts';
import { journalSchema, lastSession } from './sessions.ts';

export interface JournalSessionOptions {
  folder: Pick<RunFolder, 'journal'>;
  log: Pick<Log, 'info' | 'warn'>;
  config: Config;
  /** Iterations done at the checkpoint; undefined where the run begins, maybe again. */
  iteration: number | undefined;
  /** Settings that a resume changed. */
  changed: readonly string[];
}

/** Of changes, `path: before -> after`: the changes of where something runs and what is recorded. With any other, weights of one version may be others. */
const playsTheSame = (change: string): boolean =>
  /^(?:generator\.(?:urls?|weightsFolder|deadlineS|patienceS|requestsAtOnce|apiKeyEnv)|sandbox|trackers|checkpoint|journal|rollout\.workers|run\.(?:decoders|logLevel|logRollouts|prices|previewTasks))\b/.test(
    change,
  );

/** The journal of a run while a session writes it. */
export class SessionJournal {
  #said = false;

  private constructor(
    private readonly options: JournalSessionOptions,
    readonly run: RunJournal,
  ) {}

  /**
   * Opens the journal, and finds what earlier sessions recorded that this one may take.
   *
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  static async open(options: JournalSessionOptions): Promise<SessionJournal> {
    const { folder, log, config, iteration, changed } = options;
    const damaged = (problem: string) =>
      log.warn(`The journal is damaged: ${problem}. What cannot be read is played again.`);
    const writer = await JournalWriter.open({
      folder: folder.journal,
      durable: config.journal.durable,
      damaged,
    });
    const code = codeOf(config.plugins);
    const before = await lastSession(folder.journal, damaged);
    const isSame = before === undefined || before.code === code;
    if (!isSame) log.warn('The code has changed since the last session of this run.');
    const voids = before !== undefined && (!isSame || !changed.every(playsTheSame));
    if (voids)
      log.info(
        'Settings or code have changed: rollouts since the checkpoint are discarded and played again.',
      );
    const recorded: RecordedWork = voids
      ? { rollouts: new Map(), published: new Map() }
      : await recordedAfter(folder.journal, iteration, damaged);
    const journal = new RunJournal(writer, recorded, (text) => log.warn(text));
    journal.write({
      type: 'session',
      data: {
        schema: journalSchema,
        from: iteration ?? -1,
        voids,
        config: sha256(resolvedYaml(config)),
        code,
        version: packageVersion(),
      },
    });
    journal.flush();
    return new SessionJournal(options, journal);
  }

  /** The same rollouts, journalled. */
  rollouts(rollouts: Rollouts): Rollouts {
    return {
      collect: (requests, options) => rollouts.collect(requests, { ...options, journal: this.run }),
    };
  }

  /** The same publisher, journalled. */
  weights(weights: WeightPublisher, learner: Learner, policy = onlyAgent): WeightPublisher {
    const { versionsAtOnce } = weights;
    return {
      versionsAtOnce,
      publish: async (signal) => {
        const published = await weights.publish(signal);
        const hash = (await learner.weightsSha256?.()) ?? null;
        this.run.published(published.version, hash, policy);
        return published;
      },
      use: async (kept, signal) => {
        await weights.use(kept, signal);
        this.run.published(kept.version, null, policy);
      },
    };
  }

  readonly on = (event: TrainingEvent): void => {
    const { run } = this;
    if (event.type === 'iteration') {
      const { iteration, metrics, learned } = event;
      for (const part of learned) run.write(learnedEvent(part));
      const [steps = 0, loss, gradNorm] = [
        'train/optimizerSteps',
        'train/loss',
        'train/gradNorm',
      ].map((name) => metrics[name]);
      run.write({ type: 'update', when: 'train', iteration, data: { steps, loss, gradNorm } });
      run.write({ type: 'iteration', when: 'train', iteration });
      this.#sayTaken();
    }
    if (event.type === 'evaluation') {
      const { when, iteration, metrics } = event;
      run.write({ type: 'evaluation', when, iteration, data: { ...metrics } });
    }
    if (event.type === 'checkpoint') {
      const { iteration, reason, weightsSha256 } = event;
      run.write({ type: 'checkpoint', iteration, data: { reason, weightsSha256 } });
      run.flush();
    }
  };

  /** Once, after the first iteration or at the end: there is nothing left to take then. */
  #sayTaken(): void {
    if (this.#said) return;
    this.#said = true;
    const { rollouts, turns, calls, begunAnew } = this.run.taken;
    if (rollouts + turns + calls + begunAnew === 0) return;
    this.options.log.info(
      `Taken from the journal: ${rollouts} whole rollouts; of others ${turns} answers of the generator and ${calls} of tools. Begun anew: ${begunAnew} rollouts whose environment cannot be replayed.`,
    );
  }

  close(): Promise<void> {
    this.#sayTaken();
    return this.run.close();
  }
}
