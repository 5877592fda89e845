import { generationTotals } from '../../compose/model/open-model-services.ts';
import { frozenBySetting } from '../../compose/model/resolve-frozen.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { throwIfStopped } from '../../core/stopping/abort.ts';
import { attemptsOf, runLength } from '../../config/index.ts';
import { RunSettings } from '../../runs/query/run-settings.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { promptOf } from '../explain/prompt-of.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { messageOf } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { OpenRun } from '../../runs/open-run.ts';
import { checkRunFolder } from '../../runs/run-folder.ts';
import { resumePoint, type ResumePoint } from '../../runs/resume-point.ts';
import { StallWatch } from '../../threads/stall-watch.ts';
import { RunRecords } from '../../runs/run-records.ts';
import { RunCosts } from '../../runs/cost/run-costs.ts';
import type { RunReports } from '../../runs/run-reports.ts';
import { addUsage, type RunUsage, SessionUsage } from '../../runs/run-usage.ts';
import { GRPOTrainer } from '../../trainer/grpo-trainer.ts';
import type {
  CheckpointReason,
  TrainerObserver,
  TrainerState,
  TrainingResult,
} from '../../trainer/trainer-contracts.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import type { TrainingOptions } from '../job.ts';
import { writeToolFile } from '../token-files/tool-file.ts';
import { bytesForCheckpoints } from './checkpoint-room.ts';
import { SessionGenerations } from './session-generations.ts';
import { promptsText } from './ready/measure-prompts.ts';
import { openedFacts, planFacts, planText, trainingPlan } from './plan.ts';
import { openReady, type ReadyAgent, tasksToDraw } from './ready/ready-agent.ts';
import { restoreRun, type SavedProgress } from './restore-run.ts';
import { trackedRun } from './tracked.ts';
import { leftOutText, type SavedLeftOut } from './ready/too-long.ts';
import { sourcesOf, trainerOptions } from './trainer-options.ts';

/** What a checkpoint holds besides the learner's own state. */
type SavedState = TrainerState & SavedProgress & SavedLeftOut & { reports?: RunReports };

/** Opens everything a run needs, the folder of a new one last: a run that cannot start leaves none behind. */
export async function openTraining(
  resolved: ResolvedRun,
  options: TrainingOptions,
): Promise<Training> {
  const { signal, quiet } = options;
  const { config, file, origins } = resolved;
  throwIfStopped(signal);
  const opened = new Cleanup();
  try {
    const sources = sourcesOf(resolved);
    const resume =
      options.resume === undefined
        ? undefined
        : await resumePoint({ ...options, resume: options.resume, config, file, sources });
    if (resume === undefined) checkRunFolder(config.run);
    else opened.defer(() => resume.lock.release());
    const usage = opened.add(await SessionUsage.start());
    const ready = await openReady(resolved, options, opened, resume);
    const { trackers, prompts, leftOut } = ready;
    const record = opened.add(
      await OpenRun.open({ config, file, sources, origins, resume, quiet }),
    );
    opened.add(trackers);
    writeToolFile(record.folder.tools, ready.agent.toolSpecs);
    record.log.info(promptsText(prompts));
    for (const why of prompts.unmeasured) record.log.warn(why);
    if (leftOut.length > 0) record.log.shown(leftOutText(config, leftOut, 'all'));
    const { stallS: limitS } = config.rollout.deadlines;
    const watch = StallWatch.start({
      limitS,
      log: record.folder.log,
      onStall: options.onStall,
    });
    if (watch !== undefined) opened.add(watch);
    else
      record.log.warn(
        'A debugger is attached: a plugin that blocks the process does not end the run.',
      );
    usage.restartClock();
    return new Training({ ...ready, context: options, record, usage, resume, opened });
  } catch (failure) {
    await opened.abandon();
    throw failure;
  }
}

interface TrainingParts extends ReadyAgent {
  context: Pick<TrainingOptions, 'signal' | 'print' | 'quiet' | 'onEvent'>;
  record: OpenRun;
  usage: SessionUsage;
  resume: ResumePoint | undefined;
  opened: Cleanup;
}

/** One session of a run with everything open. */
export class Training {
  #earlier: SavedState | undefined;
  #generations: SessionGenerations | undefined;

  readonly #costs: RunCosts;

  constructor(readonly parts: TrainingParts) {
    const { config, tasks } = parts.run;
    const { samples } = attemptsOf(config.eval);
    this.#costs = new RunCosts({
      config,
      attempts: {
        heldOut: samples * tasks.evaluation.length,
        selection: samples * tasks.selection.length,
      },
    });
  }

  /** Evaluates, trains and evaluates again, from the start or from the checkpoint to resume from. */
  async train(): Promise<TrainingResult> {
    const { run, context, agent, record, resume, trackers } = this.parts;
    await this.#logStart();
    const records = this.#records();
    const trainer = this.#trainer(records);
    let ended = false;
    try {
      const changed = resume === undefined ? [] : await this.#restore(trainer, resume);
      const { iteration } = trainer.state();
      this.#generations = await SessionGenerations.open(agent.model, record, {
        iteration,
        changed,
      });
      const from = resume?.checkpoint === undefined ? {} : { from: iteration };
      const session = { resumed: resume !== undefined, ...from };
      trackers.begin(trackedRun(run, record.folder, session), record.log);
      const result = await trainer.train(context.signal);
      // The checkpoint of the last complete iteration is written, but there is no result.
      throwIfFailed(context.signal);
      ended = !result.interrupted;
      return result;
    } finally {
      records.close();
      this.#generations?.close({ ended });
    }
  }

  /** Of this session so far and of those before it. */
  async totals(): Promise<RunUsage> {
    const { agent, usage } = this.parts;
    const session = {
      ...(await usage.soFar()),
      tokens: this.#costs.tokens,
      generation: await generationTotals(agent.model),
      sandbox: agent.sandbox?.counts ?? null,
    };
    return addUsage(this.#earlier?.usage, session);
  }

  /** What tools and rewards report of the whole run. */
  reports(): RunReports {
    return this.parts.agent.reports(this.#earlier?.reports);
  }

  async close(): Promise<void> {
    await this.parts.opened.close();
  }

  async #logStart(): Promise<void> {
    const { run, context, agent, record, leftOut } = this.parts;
    const { config } = run;
    for (const note of run.notes) record.log.info(note);
    for (const warning of run.warnings) record.log.shown(warning);
    for (const [setting, { folder }] of frozenBySetting(run.frozen))
      record.log.info(`${setting}: ${folder}, whose weights stay as they are`);
    const { control } = config.train;
    if (control !== 'none')
      record.log.warn(`train.control is ${control}: this run is a control and must not learn`);
    const facts = { ...planFacts(run), leftOut: leftOut.length };
    const plan = trainingPlan(config, facts);
    const free = await bytesForCheckpoints(record.folder, plan.checkpointBytes.each);
    const opened = await openedFacts(agent.model.engines, free, agent.sandbox?.tier);
    if (context.quiet !== true) context.print(planText(config, facts, plan, opened));
    agent.model.incidents.listen((text) => record.log.warn(text));
    if (agent.sandbox === undefined) return;
    const { backend, level, concurrency } = agent.sandbox.capabilities();
    record.log.info(`Sandbox: ${backend}, level ${level}, ${concurrency} at once`);
    for (const why of agent.sandbox.skipped) record.log.warn(`Sandbox skipped: ${why}`);
    agent.sandbox.incidents.listen(({ message }) => record.log.warn(`Sandbox: ${message}`));
  }

  #records(): RunRecords {
    const { run, record, trackers, usage } = this.parts;
    const { config, chosen } = run;
    return new RunRecords({
      folder: record.folder,
      log: record.log,
      memory: usage.memory,
      iterations: runLength(config).last,
      secondsLeft: this.#costs.secondsLeft,
      logRollouts: config.run.logRollouts,
      trackers,
      display: { quiet: this.parts.context.quiet },
      watched: {
        settings: new RunSettings(config),
        tools: chosen.tools.length > 0,
        prompt: promptOf(config),
        trainedParameters: countParameters(run.model.description).trainedParameters,
      },
    });
  }

  #trainer(records: RunRecords): GRPOTrainer {
    const { run, agent, record } = this.parts;
    const { config, tasks } = run;
    const { selection } = tasks;
    return new GRPOTrainer(
      {
        ...agent.model.training,
        rollouts: agent.rollouts,
        rewarding: agent.rewarding,
        tasks: tasksToDraw(run),
        evalTasks: tasks.evaluation,
        selectionTasks: selection,
        groupsOf: reportGroups,
        observer: this.#observer(records),
      },
      trainerOptions(
        { ...config, checkpoint: { ...config.checkpoint, keepBest: selection.length > 0 } },
        run.chosen,
        record.folder.name,
      ),
    );
  }

  #observer(records: RunRecords): TrainerObserver {
    const { record, context, usage } = this.parts;
    const costs = this.#costs;
    const tell = context.onEvent ?? (() => undefined);
    return {
      onPhase: records.onPhase,
      onEpisode: (rollout) => {
        records.onEpisode(rollout);
        costs.noteEpisode(rollout);
        tell({ type: 'episode', rollout });
      },
      onIteration: (iteration, metrics, episodes) => {
        record.requireOwn();
        const forecast = costs.noteIteration(iteration, metrics);
        records.onIteration(iteration, metrics, episodes);
        if (forecast !== undefined) record.log.info(forecast);
        tell({ type: 'iteration', iteration, metrics });
      },
      onEvaluation: (when, iteration, evaluation) => {
        records.onEvaluation(when, iteration, evaluation);
        tell({ type: 'evaluation', when, iteration, evaluation });
      },
      onEvaluationEpisode: (rollout, episodes) => {
        records.onEvaluationEpisode(rollout, episodes);
        costs.noteEvaluationEpisode(rollout);
      },
      aroundEvaluation: (make) => usage.evaluating(() => costs.evaluating(make)),
      onCheckpoint: async (reason, state) => {
        await this.#saveCheckpoint(reason, state);
        tell({ type: 'checkpoint', reason, iteration: state.iteration, path: record.saved.path });
      },
      onStateLost: (problem) => record.log.error(lostText(problem)),
    };
  }

  /** @returns settings that changed */
  async #restore(trainer: GRPOTrainer, resume: ResumePoint): Promise<readonly string[]> {
    const { run, agent, record } = this.parts;
    const { learner } = agent.model.training;
    const request = { record, resume, learner, config: run.config };
    const { state: saved, changed } = await restoreRun(request);
    const earlier = saved as SavedState | undefined;
    this.#earlier = earlier;
    if (earlier !== undefined) {
      const { usage: _usage, reports: _reports, leftOut: _leftOut, ...state } = earlier;
      trainer.restore(state);
    }
    return changed;
  }

  async #saveCheckpoint(reason: CheckpointReason, state: TrainerState): Promise<void> {
    const { run, agent, record, trackers, leftOut } = this.parts;
    const { iteration } = state;
    await record.saveCheckpoint<SavedState>({
      reason,
      step: iteration,
      state: {
        ...state,
        usage: await this.totals(),
        reports: this.reports(),
        leftOut: leftOut.map(({ taskId }) => taskId),
      },
      learner: agent.model.training.learner,
      textFolder: run.model.textFolder,
    });
    if (reason === 'periodic' || reason === 'last') this.#generations?.checkpointed(iteration);
    trackers.tell({ type: 'checkpoint', reason, iteration, ...record.saved });
  }
}

const lostText = (problem: unknown): string =>
  `${
    problem === undefined
      ? 'The failure came after the weights had moved and before their iteration was recorded, so no checkpoint of it is written'
      : `No checkpoint could be written after the failure: ${messageOf(problem)}`
  }. What was done since the newest checkpoint is lost; a resume does it again.`;
