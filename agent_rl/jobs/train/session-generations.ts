import type { ModelServices } from '../../compose/model/open-model-services.ts';
import type { RunEvent } from '../../core/run-event.ts';
import { oldestStep } from '../../runs/checkpoints.ts';
import { RunGenerations } from '../../runs/generations/run-generations.ts';
import type { OpenRun } from '../../runs/open-run.ts';

export interface RecordedSession {
  /** Iterations done. */
  iteration: number;
  /** Settings that a resume changed: what was drawn under others is not taken. */
  changed: readonly string[];
}

/** Of changes, `path: before -> after`: the changes of where something runs and what is recorded. With any other, weights of one version may be others. */
const drawsTheSame = (change: string): boolean =>
  /^(?:generator\.(?:urls?|weightsFolder|deadlineS|patienceS|requestsAtOnce|apiKeyEnv)|sandbox|trackers|checkpoint|run\.(?:logLevel|logRollouts|prices|previewTasks))\b/.test(
    change,
  );

/** What a run keeps of a generator whose draws cannot be repeated; nothing for any other. */
export class SessionGenerations {
  private constructor(
    private readonly record: OpenRun,
    private readonly kept: RunGenerations | undefined,
  ) {}

  static async open(
    { training }: Pick<ModelServices, 'training'>,
    record: OpenRun,
    { iteration, changed }: RecordedSession,
  ): Promise<SessionGenerations> {
    const recording = training?.recording;
    if (recording === undefined) return new SessionGenerations(record, undefined);
    const { folder, log } = record;
    const keep = changed.every(drawsTheSame);
    const { generations, unreadable } = await RunGenerations.open(folder.generations, {
      iteration,
      keep,
    });
    if (!keep)
      log.info(
        'Settings have changed: generations since the checkpoint are discarded and sampled again.',
      );
    for (const place of unreadable)
      log.warn(`${place} is not a valid generation; it is sampled again.`);
    if (generations.held > 0)
      log.info(`${generations.held} generations since the checkpoint are reused.`);
    recording.recordIn(generations);
    return new SessionGenerations(record, generations);
  }

  readonly on = (event: RunEvent): void => {
    // Those between two iterations.
    if (event.type === 'checkpoint' && (event.reason === 'periodic' || event.reason === 'last'))
      this.kept?.checkpointed(event.iteration, oldestStep(this.record.folder.checkpoints) ?? 0);
    if (event.type !== 'end') return;
    this.kept?.close();
    // Then it will not be resumed.
    if (event.status === 'finished') this.kept?.delete();
  };
}
