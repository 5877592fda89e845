import { join } from 'node:path';

import { runLength, shippedNotes } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stray-failure.ts';
import type { Task } from '../../core/tasks/task.ts';
import { createLog, type Log, ProcessTreeMemory, writeFileAtomic } from '../../telemetry/index.ts';
import { createRunFolder, type RunFolder } from '../../runs/run-folder.ts';
import { lockRun } from '../../telemetry/run-lock.ts';
import { chooseTasks } from '../../trainer/evaluate.ts';
import { GRPOTrainer } from '../../trainer/grpo-trainer.ts';
import type { SandboxTier } from '../../sandbox/choose-backend.ts';
import type { CheckpointReason, TrainerState } from '../../trainer/trainer-contracts.ts';
import { paddedLength } from '../../learner/train-batch.ts';
import { openLanguageModelFolder } from '../../../model/text/language-model.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { describeModel } from '../../../model/weights/open-model.ts';
import {
  openEngine,
  openTrainableAgent,
  sandboxTier,
  sandboxWorkers,
  type TrainableAgent,
} from '../../compose/agent.ts';
import { pruneCheckpoints, readTrainerState, saveCheckpoint } from '../../runs/checkpoints.ts';
import { choosePlugins } from '../../compose/plugins/choose-plugins.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import { openToolCallFormat } from '../../compose/plugins/open-tool-call-format.ts';
import { asksForFormat, needsSandbox } from '../../compose/plugins/plugin-needs.ts';
import { forgetAfter } from '../../runs/forget-after.ts';
import { expectedSeconds } from './measure-speed.ts';
import { modelFolder, textFolder } from '../../../model/find/model-folder.ts';
import { requireTrainable } from '../../compose/plugins/require-trainable.ts';
import { defaultRunName, resumePoint, type ResumePoint } from '../../runs/resume-point.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { rewriteRunConfig, runInputs, writeRunConfig } from '../../runs/run-inputs.ts';
import { RunRecords } from '../../runs/run-records.ts';
import type { RunReports } from '../../runs/run-reports.ts';
import { addUsage, type RunUsage } from '../../runs/run-usage.ts';
import { beforeAfterTable, summaryOf } from '../../runs/summary.ts';
import { startingWeights } from '../../compose/model-request.ts';
import { previewText } from './task-preview.ts';
import {
  readTaskSets,
  reportGroups,
  refuseLeaks,
  sayIfFewer,
  samplerOf,
  type TaskSet,
} from '../../../dataset/tasks/task-sets.ts';
import { quantization, requireTrainableModel } from '../../compose/quantization.ts';
import { type OpenedFacts, type PlanFacts, planText, trainingPlan } from './plan.ts';
import { trainerOptions } from './trainer-options.ts';
import { throwIfStopped, unlessStopped } from '../../compose/unless-stopped.ts';

/** The tasks of a run, both splits read and chosen. */
interface RunTasks {
  sets: readonly TaskSet[];
  /** Of all sets. */
  train: readonly Task[];
  evaluation: readonly Task[];
}

/**
 * Trains an agent by reinforcement learning: preview, plan, baseline, training, evaluation, table.
 *
 * @returns what `summary.json` holds, and where the run lies.
 * @throws AgentRlError for what the user can mend; before anything is written wherever it can be known.
 */
export async function runTraining(options: TrainingOptions): Promise<JobResult> {
  const { loaded, plugins, print } = options;
  const { config } = loaded;
  requireTrainable(loaded, plugins);
  const tasks = await readTasks(options);
  const facts = await planFacts(options, tasks);
  print(previewText(tasks.train, config.run.previewTasks));
  const { maxSamples } = config.dataset;
  sayIfFewer('dataset.maxSamples', maxSamples, tasks.train.length, print);
  if (options.dryRun) return dryRun(options, facts);

  throwIfStopped(options.signal);
  const resume = await resumePoint({
    ...options,
    layers: (await startingWeights(options.loaded.config)).layers,
  });
  let lock = resume?.lock;
  const memory = new ProcessTreeMemory();
  memory.start();
  try {
    const { cpuSeconds: cpuSecondsBefore } = await memory.sample();
    const agent = await openTrainableAgent({
      loaded,
      plugins,
      signal: options.signal,
      trains: true,
      tasks: tasks.train,
    });
    try {
      // Only now: a run whose device or sandbox is not there leaves no folder behind.
      const folder = resume?.folder ?? (await newRunFolder(options));
      for (const note of agent.policy.notes ?? []) print(`Note: ${note}`);
      lock ??= lockRun(folder.path);
      return await logged({
        options,
        agent,
        tasks,
        facts,
        folder,
        memory,
        cpuSecondsBefore,
        resume,
      });
    } finally {
      await agent.close();
    }
  } finally {
    memory.halt();
    lock?.release();
  }
}

/** The run, its log open for as long as it takes. */
async function logged(parts: Omit<RunParts, 'log'>): Promise<JobResult> {
  const { options, folder } = parts;
  const { run, train } = options.loaded.config;
  const log = createLog({ level: run.logLevel, file: folder.log });
  for (const note of shippedNotes(options.loaded)) log.info(note);
  if (train.control !== 'none') {
    log.warn(`train.control is ${train.control}: this run is a control and must not learn`);
  }
  try {
    return await new TrainingRun({ ...parts, log }).run(options.signal);
  } catch (thrown) {
    log.error(`The run ended: ${String(thrown)}`);
    throw thrown;
  } finally {
    await log.close();
  }
}

/** The plan and no run; the engine is opened to measure what the expected time follows from. */
async function dryRun(
  { loaded: { config }, print, signal }: TrainingOptions,
  facts: PlanFacts,
): Promise<JobResult> {
  const plan = trainingPlan(config, facts);
  const { workers } = config.rollout;
  const engine = await openEngine(config, {
    weights: await startingWeights(config),
    workers,
    trains: true,
    signal,
  });
  try {
    const expectedS = await unlessStopped(expectedSeconds(engine, config, plan), signal);
    const sandbox = facts.sandboxes === 0 ? undefined : await sandboxTier(config, signal);
    const opened = {
      ...(await openedFacts(engine, expectedS, sandbox?.tier)),
      ...(sandbox !== undefined && { sandboxesSkipped: sandbox.skipped }),
    };
    print(planText(config, facts, plan, opened));
    return { dryRun: true, plan, ...opened };
  } finally {
    await engine.close();
  }
}

/** What the engine says of itself once it is open, and which sandbox there is. */
async function openedFacts(
  engine: EngineClient,
  expectedS: number,
  tier: SandboxTier | undefined,
): Promise<OpenedFacts> {
  const { plan: memory } = await engine.info();
  return { expectedS, memory, ...(tier !== undefined && { sandboxTier: tier }) };
}

async function readTasks({ loaded, plugins, print }: TrainingOptions): Promise<RunTasks> {
  const { dataset, datasets, eval: evaluation, run } = loaded.config;
  const format = dataset.format ?? choosePlugins(loaded, plugins).environment.entry.spec.taskFormat;
  const read = (split: string) =>
    readTaskSets(datasets, { split, format, warn: (text) => print(`Note: ${text}`) });
  const sets = await read(dataset.trainSplit);
  const held = (await read(dataset.evalSplit)).flatMap(({ tasks }) => tasks);
  const train = sets.flatMap(({ tasks }) => tasks);
  refuseLeaks(train, held);
  sayIfFewer('eval.maxTasks', evaluation.maxTasks, held.length, print);
  return {
    sets,
    train,
    evaluation: chooseTasks(held, evaluation.maxTasks, run.seed),
  };
}

async function planFacts(
  { loaded, plugins }: TrainingOptions,
  tasks: RunTasks,
): Promise<PlanFacts> {
  const { config } = loaded;
  await requireTrainableModel(config);
  const { layers, newAdapter } = await startingWeights(config);
  const { config: model } = await describeModel({
    folder: layers.base,
    adapters: layers.adapters,
    newAdapter,
    quantize: quantization(config),
  });
  const chosen = choosePlugins(loaded, plugins);
  // Only looked at: a folder that cannot be spoken with is refused before a run is begun.
  const text = await openLanguageModelFolder(await textFolder(modelFolder(config)));
  if (asksForFormat(chosen)) openToolCallFormat({ chosen, plugins, model: text });
  return {
    trainTasks: Math.min(tasks.train.length, config.dataset.maxSamples ?? Infinity),
    evalTasks: tasks.evaluation.length,
    ...countParameters(model),
    sandboxes: needsSandbox(chosen) ? sandboxWorkers(config) : 0,
  };
}

async function newRunFolder({ loaded: { config, file } }: TrainingOptions): Promise<RunFolder> {
  const { name, outputDir, seed } = config.run;
  const otherwise = defaultRunName(file, seed);
  const inputs = await runInputs(config, (await startingWeights(config)).layers);
  const folder = createRunFolder({ outputDir, name, otherwise });
  writeRunConfig(folder, config, inputs);
  return folder;
}

interface RunParts {
  options: TrainingOptions;
  agent: TrainableAgent;
  tasks: RunTasks;
  facts: PlanFacts;
  folder: RunFolder;
  log: Log;
  memory: ProcessTreeMemory;
  /** Used by this process before the run. */
  cpuSecondsBefore: number;
  resume: ResumePoint | undefined;
}

/** What a checkpoint holds besides the learner's own state. */
interface SavedState extends TrainerState {
  /** Up to this checkpoint; absent in checkpoints of before it was kept. */
  usage?: RunUsage;
  reports?: RunReports;
}

/** One run with everything open. */
class TrainingRun {
  readonly #started = performance.now();
  #earlier: RunUsage | undefined;
  #reported: RunReports | undefined;
  #saved = { path: '', weightsSha256: '' };

  constructor(private readonly parts: RunParts) {}

  async run(signal: AbortSignal): Promise<JobResult> {
    const { options, agent, tasks, facts, folder, log, memory, resume } = this.parts;
    const { config } = options.loaded;
    await this.#showPlan();
    const plan = trainingPlan(config, facts);
    const records = new RunRecords({
      folder,
      log,
      memory,
      iterations: runLength(config).last,
      evalEpisodes: plan.evalEpisodes,
      logRollouts: config.run.logRollouts,
    });
    const { seed } = config.run;
    const { maxSamples, shuffle } = config.dataset;
    const trainer = new GRPOTrainer(
      {
        learner: agent.engine,
        rollouts: agent.rollouts,
        tasks: samplerOf(tasks.sets, {
          seed,
          shuffle,
          ...(maxSamples !== undefined && { maxSamples }),
        }),
        evalTasks: tasks.evaluation,
        groupsOf: reportGroups,
        paddedLength,
        observer: {
          onEpisode: records.onEpisode,
          onIteration: records.onIteration,
          onEvaluation: records.onEvaluation,
          onEvaluationEpisode: records.onEvaluationEpisode,
          onCheckpoint: (reason, state) => this.#checkpoint(reason, state),
        },
      },
      trainerOptions(config),
    );
    try {
      if (resume !== undefined) {
        await agent.engine.loadState(resume.checkpoint);
        const { usage, reports, ...state } = readTrainerState(resume.checkpoint) as SavedState;
        this.#earlier = usage;
        this.#reported = reports;
        if (usage === undefined)
          log.warn(
            'The checkpoint holds no times: the totals of summary.json begin at this resume.',
          );
        refuseIfBeyond(state.iteration, options);
        trainer.restore(state);
        await forgetAfter(folder, state.iteration);
        log.info(`Continuing ${folder.path} from ${resume.checkpoint}`);
        for (const note of resume.notes) log.warn(note);
        for (const change of rewriteRunConfig(folder, config)) log.info(`From now on ${change}`);
      }
      const result = await trainer.train(signal);
      // The checkpoint of the last whole iteration is written; this is no result.
      throwIfFailed(signal);
      return await this.#conclude(result);
    } finally {
      records.close();
    }
  }

  async #showPlan(): Promise<void> {
    const { options, agent, facts, log } = this.parts;
    const { config } = options.loaded;
    const plan = trainingPlan(config, facts);
    const expectedS = await expectedSeconds(agent.engine, config, plan);
    const opened = await openedFacts(agent.engine, expectedS, agent.sandbox?.tier);
    options.print(planText(config, facts, plan, opened));
    if (agent.sandbox !== undefined) {
      const { backend, level, concurrency } = agent.sandbox.capabilities();
      log.info(`Sandbox: ${backend}, level ${level}, ${concurrency} at once`);
      for (const why of agent.sandbox.skipped) log.warn(`Sandbox skipped: ${why}`);
      agent.sandbox.incidents.listen(({ message }) => log.warn(`Sandbox: ${message}`));
    }
  }

  async #checkpoint(reason: CheckpointReason, state: TrainerState): Promise<void> {
    const { options, agent, folder, log } = this.parts;
    const name = reason === 'best' ? 'best' : `step-${state.iteration}`;
    this.#saved = await saveCheckpoint({
      folder: folder.checkpoints,
      name,
      step: state.iteration,
      state: {
        ...state,
        usage: await this.#usage(),
        reports: agent.reports(this.#reported),
      } satisfies SavedState,
      learner: agent.engine,
      textFolder: agent.textFolder,
    });
    if (reason !== 'best')
      pruneCheckpoints(folder.checkpoints, options.loaded.config.checkpoint.keepLast);
    log.info(`Checkpoint (${reason}): ${this.#saved.path}`);
  }

  /** Of this session so far and of those before it. */
  async #usage(): Promise<RunUsage> {
    const { agent, memory, cpuSecondsBefore } = this.parts;
    const { cpuSeconds } = await memory.sample();
    return addUsage(this.#earlier, {
      sessions: 1,
      wallSeconds: (performance.now() - this.#started) / 1000,
      cpuSeconds: cpuSeconds - cpuSecondsBefore,
      memory: memory.peak,
      generation: (await agent.engine.info()).totals,
      sandbox: agent.sandbox?.counts ?? null,
    });
  }

  async #conclude(result: Awaited<ReturnType<GRPOTrainer['train']>>): Promise<JobResult> {
    const { options, agent, facts, folder, memory } = this.parts;
    await memory.stop();
    const summary = summaryOf(result, {
      seed: options.loaded.config.run.seed,
      usage: await this.#usage(),
      weightsSha256: this.#saved.weightsSha256,
      checkpoint: this.#saved.path,
      parameters: facts.parameters,
      trainedParameters: facts.trainedParameters,
      sandboxLevel: agent.sandbox?.capabilities().level,
      ...agent.reports(this.#reported),
    });
    writeFileAtomic(folder.summary, `${JSON.stringify(summary, null, 1)}\n`);
    if (result.before ?? result.after) options.print(beforeAfterTable(result));
    options.print(`Outputs: ${folder.path}\nCheckpoint: ${this.#saved.path}`);
    const { last, planned } = runLength(options.loaded.config);
    if (result.interrupted) options.print(`Interrupted. Continue with --resume ${folder.path}`);
    else if (last < planned)
      options.print(
        `Ended after ${last} of ${planned} iterations. Continue with --resume ${folder.path} --max-iterations ${planned}`,
      );
    return { run: folder.path, summaryFile: join(folder.summary), ...summary };
  }
}

function refuseIfBeyond(iteration: number, { loaded: { config } }: TrainingOptions): void {
  const { last } = runLength(config);
  if (iteration <= last) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The run to continue has done ${iteration} iterations and is to end after ${last}. Give --max-iterations a number above ${iteration}.`,
  );
}
