import { openTrackers } from '../../compose/open-trackers.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Learner } from '../../core/services/learner.ts';
import { throwIfStopped } from '../../core/stopping/abort.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { SessionJournal } from '../../runs/journal/session-journal.ts';
import type { SavedPolicy } from '../../runs/checkpoints.ts';
import { OpenRun } from '../../runs/open-run.ts';
import { resumePoint, type ResumePoint, whereToResume } from '../../runs/resume-point.ts';
import { checkRunFolder, type RunFolder } from '../../runs/run-folder.ts';
import type { RunSources } from '../../runs/inputs/run-inputs.ts';
import { SessionUsage } from '../../runs/run-usage.ts';
import type { RunTrackers } from '../../runs/trackers/run-trackers.ts';
import type { Subscriber, TrainerState, TrainingOutput } from '../../trainer/trainer-contracts.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { leaveReport } from '../report/leave-report.ts';
import { startProfile } from './profile.ts';
import { restoreRun, type SavedProgress } from './restore-run.ts';
import { sourcesOf } from './trainer-options.ts';

/** Where a session begins: with nothing, or with the run that is resumed. In a dry run it is not locked. */
export type Beginning = Partial<ResumePoint>;

/** A way to train with everything open that writes nothing, for the run and for a dry run: what one refuses, the other does. */
export interface ReadyTraining<State extends { iteration: number }> {
  /** With the tasks that are left. */
  run: ResolvedRun;
  learner: Learner;
  /** The learners of named policies, and where the texts of their models are. */
  others?: ReadonlyMap<string, SavedPolicy>;
  /** What the run will do, in words and as a dry run's result. */
  plan(beginning: Beginning): Promise<{ text: string; facts: JobResult }>;
  /** Logs what it begins with. @returns the subscribers, in addition to the subscribers of every session */
  begin(session: Session<State>): Promise<readonly Subscriber[]>;
  /** What a checkpoint holds besides the trainer's state and the learner's own. */
  progress(session: Session<State>): Promise<Omit<SavedProgress, 'iteration'>>;
  /** @returns what `summary.json` holds, and what the user is shown */
  train(session: Session<State> & TrainingOutput<State>): Promise<{
    summary: JobResult & { interrupted: boolean };
    shown: readonly (string | undefined)[];
  }>;
}

/** A session of a run with everything open. */
export interface Session<State> {
  options: TrainingOptions;
  record: OpenRun;
  usage: SessionUsage;
  /** The run that is resumed. */
  resume: ResumePoint | undefined;
  /** What the checkpoint holds that is resumed; absent where the run begins, maybe again. */
  saved: (State & SavedProgress) | undefined;
  /** What was played, and what earlier sessions played. */
  journal: SessionJournal;
  /** Closes what is added when the session ends, before the log. */
  opened: Cleanup;
}

interface Opening {
  options: TrainingOptions;
  opened: Cleanup;
  beginning: Beginning;
}

/**
 * One session of a run, from its config to its result: opens everything, plans, makes or continues the run's folder,
 * trains, and closes all. A dry run ends after the plan. A report is left in the folder however the session ends.
 *
 * @returns what `summary.json` holds, and where the run lies
 */
export async function runSession<State extends { iteration: number }>(
  resolved: ResolvedRun,
  options: TrainingOptions,
  open: (opening: Opening) => Promise<ReadyTraining<State>>,
): Promise<JobResult> {
  const { dryRun, quiet = false, print, signal } = options;
  throwIfStopped(signal);
  const opened = new Cleanup();
  let folder: RunFolder | undefined;
  let report: JobResult = {};
  let result: JobResult;
  opened.defer(async () => {
    if (folder !== undefined) report = await leaveReport(folder, print);
  });
  try {
    const sources = sourcesOf(resolved);
    const beginning = await whereToBegin(resolved, options, sources);
    opened.defer(() => beginning.lock?.release());
    const writeProfile = startProfile(options, opened);
    const usage = opened.add(await SessionUsage.start());
    // They may start a process, and are closed though the run does not begin.
    const trackers = opened.add(openTrackers(resolved.chosen.trackers));
    const ready = await open({ options, opened, beginning });
    const plan = await ready.plan(beginning);
    if (dryRun || !quiet) print(plan.text);
    if (dryRun) {
      result = { dryRun, ...plan.facts };
    } else {
      const resume = isLocked(beginning) ? beginning : undefined;
      const record = opened.add(await OpenRun.open({ ...ready.run, sources, resume, quiet }));
      ({ folder } = record);
      opened.add(trackers);
      const begun = { options, record, usage, resume, opened, trackers };
      result = await record.logging(() =>
        inSession(ready, begun).finally(() => writeProfile(record)),
      );
    }
  } catch (failure) {
    // What failed first is worth more than what then fails to close.
    await opened.abandon();
    throw failure;
  }
  await opened.close();
  return { ...result, ...report };
}

/** The run to resume, locked where it will be written; of a new run, whose folder must be one that can be made, nothing. */
async function whereToBegin(
  { config, file }: ResolvedRun,
  { resume, dryRun, ...options }: TrainingOptions,
  sources: RunSources,
): Promise<Beginning> {
  if (resume !== undefined)
    return (dryRun ? whereToResume : resumePoint)({ ...options, resume, config, file, sources });
  checkRunFolder(config.run);
  return {};
}

/** The folder of the weights that draw the next collection, where they are older than the checkpoint's own. */
const drawnBy = (state: {
  iteration: number;
  ahead?: TrainerState['ahead'];
}): string | undefined =>
  state.ahead?.weights?.kind === 'folder' ? state.ahead.weights.location : undefined;

const isLocked = (beginning: Beginning): beginning is ResumePoint => beginning.lock !== undefined;

type Begun = Omit<Session<never>, 'saved' | 'journal'> & { trackers: RunTrackers };

/** Trains, from the start or from the checkpoint to resume from, and writes the summary. */
async function inSession<State extends { iteration: number }>(
  ready: ReadyTraining<State>,
  { trackers, ...begun }: Begun,
): Promise<JobResult> {
  const { run, learner, others } = ready;
  const { record, resume, usage, options } = begun;
  const { folder, log } = record;
  usage.restartClock();
  for (const note of run.notes) log.info(note);
  for (const warning of run.warnings) log.shown(warning);
  const restored = resume && (await restoreRun({ record, resume, learner, others, run }));
  // It was written by the same way of training: a run keeps its mode.
  const saved = restored?.state as Session<State>['saved'];
  const journal = begun.opened.add(
    await SessionJournal.open({
      folder,
      log,
      config: run.config,
      iteration: saved?.iteration,
      changed: restored?.changed ?? [],
    }),
  );
  const session: Session<State> = { ...begun, saved, journal };
  const subscribers: readonly Subscriber[] = [
    // Another process may have taken the run meanwhile.
    ({ type }) => void (type === 'iteration' && record.requireOwn()),
    usage.on,
    journal.on,
    ...(await ready.begin(session)),
    trackers.on,
    options.onEvent ?? (() => undefined),
  ];
  const emit: Subscriber = (event) => {
    for (const tell of subscribers) tell(event);
  };
  trackers.logTo(log);
  const { config } = run;
  emit({
    type: 'start',
    run: {
      name: folder.name,
      folder: folder.path,
      mode: config.train.mode,
      config,
      resumed: resume !== undefined,
      from: saved?.iteration,
    },
  });
  let status: 'finished' | 'interrupted' | 'failed' = 'failed';
  let ended;
  try {
    ended = await ready.train({
      ...session,
      emit,
      save: async (reason, state) =>
        record.saveCheckpoint({
          reason,
          step: state.iteration,
          state: { ...state, ...(await ready.progress(session)) },
          learner,
          others,
          textFolder: run.model.textFolder,
          drawn: drawnBy(state),
        }),
    });
    // It is there though the process is killed while trackers are waited for.
    record.writeSummary(ended.summary);
    emit({ type: 'summary', summary: ended.summary });
    status = ended.summary.interrupted ? 'interrupted' : 'finished';
  } finally {
    emit({ type: 'end', status });
  }
  const reports = await trackers.close();
  const summary = { ...ended.summary, trackers: reports };
  if (reports !== undefined) record.writeSummary(summary);
  for (const text of ended.shown) if (text !== undefined) options.print(text);
  return { run: folder.path, summaryFile: folder.summary, ...summary };
}
