import { existsSync, readFileSync, rmSync } from 'node:fs';
import { parse } from 'yaml';

import {
  type Config,
  isProgramPlugin,
  resolvedYaml,
  type SettingOrigins,
} from '../config/index.ts';
import { noteNextStep } from '../core/errors.ts';
import { Cleanup } from '../core/stopping/cleanup.ts';
import { createLog, type Log, writeFileAtomic } from '../telemetry/index.ts';
import { lockRun, type RunLock } from '../telemetry/run-lock.ts';
import {
  type CheckpointContents,
  pruneCheckpoints,
  saveCheckpoint,
  type SavedCheckpoint,
} from './checkpoints.ts';
import { defaultRunName, type ResumePoint } from './resume-point.ts';
import { type Machine, machineInWords } from './inputs/machine.ts';
import { recordProvenance } from './inputs/provenance.ts';
import { type RunFolder, createRunFolder, resumeCommand } from './run-folder.ts';
import { changedSettings } from './flat-settings.ts';
import { readInputs, recordMachine, type RunSources, writeInputs } from './inputs/run-inputs.ts';

export interface OpenRunOptions {
  config: Config;
  /** The run file. */
  file: string;
  sources: RunSources;
  /** Where each setting comes from. */
  origins: SettingOrigins;
  /** The run to resume, locked; a new one is begun when absent. */
  resume?: ResumePoint | undefined;
  /** The console has only warnings and errors of the log. */
  quiet?: boolean | undefined;
}

export interface CheckpointRequest<State> extends CheckpointContents<State> {
  /** Why it is written, for the log; `best` also names its folder. */
  reason: string;
}

/** A run's folder while a session works in it: locked, with its log open. */
export class OpenRun {
  /** The last checkpoint of this session. */
  saved: SavedCheckpoint = { path: '', weightsSha256: '' };
  /** What the run was computed on so far, this session included. */
  machines: readonly Machine[];
  /** The checkpoint that the next resume starts from. */
  #newest: string | undefined;

  private constructor(
    private readonly options: OpenRunOptions,
    readonly folder: RunFolder,
    readonly log: Log,
    private readonly held: { lock: RunLock; opened: Cleanup },
  ) {
    this.machines = [options.sources.machine];
    this.#newest = options.resume?.checkpoint;
  }

  /**
   * Makes the folder of a new run, or opens that of the one to resume.
   *
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  static async open(options: OpenRunOptions): Promise<OpenRun> {
    const { config, resume, quiet = false } = options;
    const opened = new Cleanup();
    try {
      const folder = resume?.folder ?? (await newFolder(options));
      const lock = resume?.lock ?? lockRun(folder.path);
      if (resume === undefined) opened.defer(() => lock.release());
      const log = opened.add(
        createLog({
          level: config.run.logLevel,
          file: folder.log,
          console: quiet ? 'warnings' : 'all',
        }),
      );
      log.info(`Computes on: ${machineInWords(options.sources.machine)}`);
      if (config.run.engineThreads === undefined)
        log.info('run.engineThreads is not set: the engine uses one thread per processor');
      return new OpenRun(options, folder, log, { lock, opened });
    } catch (failure) {
      await opened.abandon();
      throw failure;
    }
  }

  /**
   * Logs from where the run is resumed and which settings changed; its `config.yaml` becomes that of this session.
   *
   * @returns what changed, each as `path: before -> after`
   */
  logResume({ checkpoint, notes }: ResumePoint): readonly string[] {
    const { config, sources, origins } = this.options;
    this.log.info(`Resuming ${this.folder.path} from ${checkpoint ?? 'its start'}`);
    for (const note of notes) this.log.warn(note);
    const changed = rewriteRunConfig(this.folder, config);
    for (const change of changed) this.log.info(`Setting changed by this resume: ${change}`);
    this.machines = recordMachine(this.folder, sources.machine);
    recordProvenance(this.folder, origins, sources.machine);
    return changed;
  }

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` when another process has taken the run meanwhile */
  requireOwn(): void {
    this.held.lock.requireHeld();
  }

  /** Writes a checkpoint, whole or not at all, and deletes those that `checkpoint.keepLast` does not keep. */
  async saveCheckpoint<State>(request: CheckpointRequest<State>): Promise<SavedCheckpoint> {
    this.requireOwn();
    const { reason, step } = request;
    const name = reason === 'best' ? reason : `step-${step}`;
    const folder = this.folder.checkpoints;
    this.saved = await saveCheckpoint({ ...request, folder, name });
    if (reason !== 'best') {
      this.#newest = this.saved.path;
      pruneCheckpoints(folder, this.options.config.checkpoint.keepLast);
    }
    this.log.info(`Checkpoint (${reason}): ${this.saved.path}`);
    return this.saved;
  }

  /** Writes `summary.json`. @throws AgentRlError `OUTPUT_UNWRITABLE` */
  writeSummary(summary: object): void {
    this.requireOwn();
    writeFileAtomic(this.folder.summary, `${JSON.stringify(summary, null, 1)}\n`);
  }

  /**
   * Runs what the session is for; a failure goes into the log file, with how to continue, before it is rethrown. The caller that
   * handles it shows it to the user.
   */
  async logging<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      this.log.shown(`The run ended: ${String(thrown)}`, 'error');
      const next = this.nextStep();
      this.log.shown(next, 'info');
      noteNextStep(thrown, next);
      throw thrown;
    }
  }

  /** Where a run that ended early stands, and how to continue. */
  nextStep(): string {
    const { path } = this.folder;
    const ofProgram = this.options.config.plugins.some(isProgramPlugin);
    const command = ofProgram
      ? `call trainAgent again, with resume: '${path}'`
      : resumeCommand(path);
    return this.#newest === undefined
      ? `There is no checkpoint yet. Start again from the start model: ${command}`
      : `Newest checkpoint: ${this.#newest}\nContinue: ${command}`;
  }

  async close(): Promise<void> {
    await this.held.opened.close();
  }
}

async function newFolder({ config, file, sources, origins }: OpenRunOptions): Promise<RunFolder> {
  const { name, outputDir, seed } = config.run;
  const inputs = await readInputs(sources);
  const folder = createRunFolder({ outputDir, name, otherwise: defaultRunName(file, seed) });
  try {
    writeRunConfig(folder, config);
    writeInputs(folder, inputs);
    recordProvenance(folder, origins, sources.machine);
    return folder;
  } catch (failure) {
    // Half of it could neither be resumed nor begun under its name.
    rmSync(folder.path, { recursive: true });
    throw failure;
  }
}

/** Writes the `config.yaml` of a run. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export const writeRunConfig = (folder: RunFolder, config: Config): void =>
  writeFileAtomic(folder.config, resolvedYaml(config));

/**
 * Writes the config that a run is resumed with over the one it had, so that the next resume takes it too.
 *
 * @returns what differs, each as `path: before -> after`.
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function rewriteRunConfig(folder: RunFolder, config: Config): readonly string[] {
  const before: unknown = existsSync(folder.config)
    ? parse(readFileSync(folder.config, 'utf8'))
    : undefined;
  writeRunConfig(folder, config);
  return before === undefined ? [] : changedSettings(before, config);
}
