import type { Config } from '../config/index.ts';
import { Cleanup } from '../core/stopping/cleanup.ts';
import { createLog, type Log, writeFileAtomic } from '../telemetry/index.ts';
import { lockRun } from '../telemetry/run-lock.ts';
import {
  type CheckpointContents,
  pruneCheckpoints,
  saveCheckpoint,
  type SavedCheckpoint,
} from './checkpoints.ts';
import { defaultRunName, type ResumePoint } from './resume-point.ts';
import { rewriteRunConfig, writeRunConfig } from './run-config.ts';
import { createRunFolder, type RunFolder } from './run-folder.ts';
import { readInputs, type RunSources, writeInputs } from './run-inputs.ts';

export interface OpenRunOptions {
  config: Config;
  /** The run file. */
  file: string;
  sources: RunSources;
  /** The run to resume, locked; a new one is begun when absent. */
  resume?: ResumePoint | undefined;
}

export interface CheckpointRequest<State> extends CheckpointContents<State> {
  /** Why it is written, for the log; `best` also names its folder. */
  reason: string;
}

/** A run's folder while a session works in it: locked, with its log open. */
export class OpenRun {
  /** The last checkpoint of this session. */
  saved: SavedCheckpoint = { path: '', weightsSha256: '' };

  private constructor(
    private readonly config: Config,
    readonly folder: RunFolder,
    readonly log: Log,
    private readonly opened: Cleanup,
  ) {}

  /**
   * Makes the folder of a new run, or opens that of the one to resume.
   *
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  static async open(options: OpenRunOptions): Promise<OpenRun> {
    const { config, resume } = options;
    const opened = new Cleanup();
    try {
      const folder = resume?.folder ?? (await newFolder(options));
      if (resume === undefined) {
        const lock = lockRun(folder.path);
        opened.defer(() => lock.release());
      }
      const log = opened.add(createLog({ level: config.run.logLevel, file: folder.log }));
      return new OpenRun(config, folder, log, opened);
    } catch (failure) {
      await opened.abandon();
      throw failure;
    }
  }

  /** Logs from where the run is resumed and which settings changed; its `config.yaml` becomes that of this session. */
  logResume({ checkpoint, notes }: ResumePoint): void {
    this.log.info(`Continuing ${this.folder.path} from ${checkpoint}`);
    for (const note of notes) this.log.warn(note);
    for (const change of rewriteRunConfig(this.folder, this.config))
      this.log.info(`From now on ${change}`);
  }

  /** Writes a checkpoint, whole or not at all, and deletes those that `checkpoint.keepLast` does not keep. */
  async saveCheckpoint<State>(request: CheckpointRequest<State>): Promise<void> {
    const { reason, step } = request;
    const name = reason === 'best' ? reason : `step-${step}`;
    const folder = this.folder.checkpoints;
    this.saved = await saveCheckpoint({ ...request, folder, name });
    if (reason !== 'best') pruneCheckpoints(folder, this.config.checkpoint.keepLast);
    this.log.info(`Checkpoint (${reason}): ${this.saved.path}`);
  }

  /** Writes `summary.json`. @throws AgentRlError `OUTPUT_UNWRITABLE` */
  writeSummary(summary: object): void {
    writeFileAtomic(this.folder.summary, `${JSON.stringify(summary, null, 1)}\n`);
  }

  /** Runs what the session is for; a failure goes into the log before it is thrown on. */
  async logging<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      this.log.error(`The run ended: ${String(thrown)}`);
      throw thrown;
    }
  }

  async close(): Promise<void> {
    await this.opened.close();
  }
}

async function newFolder({ config, file, sources }: OpenRunOptions): Promise<RunFolder> {
  const { name, outputDir, seed } = config.run;
  const inputs = await readInputs(sources);
  const folder = createRunFolder({ outputDir, name, otherwise: defaultRunName(file, seed) });
  writeRunConfig(folder, config);
  writeInputs(folder, inputs);
  return folder;
}
