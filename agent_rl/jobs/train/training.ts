import { join } from 'node:path';

import { generationTotals } from '../../compose/model/open-model-services.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { onlyAgent } from '../../core/rollout.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { RunCosts } from '../../runs/cost/run-costs.ts';
import { openTrainingDisplay } from '../../runs/display/open-training-display.ts';
import { RunRecords } from '../../runs/run-records.ts';
import type { RunReports } from '../../runs/run-reports.ts';
import { RunSettings } from '../../runs/query/run-settings.ts';
import { addUsage } from '../../runs/run-usage.ts';
import { warningsOf } from '../../runs/signs/run-watch.ts';
import { StallWatch } from '../../threads/stall-watch.ts';
import type {
  Subscriber,
  TrainedPolicy,
  TrainerState,
  TrainingOutput,
} from '../../trainer/trainer-contracts.ts';
import { trainGrpo } from '../../trainer/train-grpo.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import { promptOf } from '../explain/prompt-of.ts';
import type { TrainingOptions } from '../job.ts';
import { writeToolFile } from '../token-files/tool-file.ts';
import { bytesForCheckpoints, freeBytes } from './checkpoint-room.ts';
import { concluded } from './conclude.ts';
import { expectedTime, timeText } from './measure-speed.ts';
import { openedFacts, planFacts, planText, trainingPlan } from './plan.ts';
import { promptsText } from './ready/measure-prompts.ts';
import { type ReadyAgent, tasksToDraw } from './ready/ready-agent.ts';
import { leftOutText, type SavedLeftOut } from './ready/too-long.ts';
import type { SavedProgress } from './restore-run.ts';
import type { Beginning, ReadyTraining, Session } from './session.ts';
import { drawnFolder } from '../../runs/checkpoints.ts';
import { trainerOptions } from './trainer-options.ts';

/** What a checkpoint holds besides the learner's own state. */
type SavedState = TrainerState & SavedProgress & SavedLeftOut & { reports?: RunReports };

/** The state of a checkpoint, with the place in it of the weights that draw the next collection. */
function withDrawnWeights({ resume, saved }: Session<TrainerState>): TrainerState | undefined {
  const kept = join(resume?.checkpoint ?? '', drawnFolder);
  const { weights, step = 0 } = saved?.ahead ?? {};
  if (saved === undefined || weights?.kind !== 'folder') return saved;
  return { ...saved, ahead: { step, weights: { ...weights, location: kept } } };
}

/** Reinforcement learning with everything open. */
export class GrpoTraining implements ReadyTraining<TrainerState> {
  readonly run: ResolvedRun;
  readonly #costs: RunCosts;

  constructor(
    private readonly ready: ReadyAgent,
    private readonly options: TrainingOptions,
  ) {
    this.run = ready.run;
    const { config, attempts, tasks } = this.run;
    this.#costs = new RunCosts({
      config,
      attempts: {
        heldOut: attempts.samples * tasks.evaluation.length,
        selection: attempts.samples * tasks.selection.length,
      },
    });
  }

  /** The policies that are trained; the one at the top level comes first. */
  get policies(): ReadonlyMap<string, TrainedPolicy> {
    const { training, others } = this.ready.agent.model;
    const named = [...others].flatMap(([name, one]) =>
      one.training === undefined ? [] : [[name, one.training] as const],
    );
    return new Map([[onlyAgent, training], ...named]);
  }

  get learner() {
    return this.ready.agent.model.training.learner;
  }

  get others() {
    return new Map(
      [...this.policies]
        .filter(([name]) => name !== onlyAgent)
        .map(([name, { learner }]) => {
          const { textFolder } = this.run.policies.get(name)!.model;
          return [name, { learner, textFolder }];
        }),
    );
  }

  async plan({ folder }: Beginning) {
    const { agent, prompts, leftOut } = this.ready;
    const { model, sandbox } = agent;
    const { config } = this.run;
    const { dryRun, measure = false, print, signal } = this.options;
    const facts = { ...planFacts(this.run), leftOut: leftOut.length };
    const plan = trainingPlan(this.run, facts);
    const free =
      folder === undefined
        ? await freeBytes(config.run.outputDir)
        : await bytesForCheckpoints(folder, plan.checkpointBytes.each);
    const opened = {
      ...(await openedFacts(model.engines, free, sandbox?.tier)),
      // The log says it too.
      sandboxesSkipped: dryRun ? sandbox?.skipped : undefined,
    };
    const text = planText(this.run, facts, plan, opened);
    if (!dryRun) return { text, facts: {} };
    model.incidents.listen((incident) => print(`Note: ${incident}`));
    for (const why of prompts.unmeasured) print(`Note: ${why}`);
    const work = { ...plan, promptTokens: prompts.meanTokens };
    const expected = measure
      ? await abortableStart(expectedTime(model, config, work), signal)
      : undefined;
    return {
      text: `${text}\n${timeText(expected)}`,
      facts: { plan, ...opened, ...expected, leftOut },
    };
  }

  async begin(session: Session<TrainerState>): Promise<readonly Subscriber[]> {
    const { record, opened } = session;
    const { folder, log } = record;
    const { config, chosen, length, parameters } = this.run;
    this.#logBeginning(session);
    const records = new RunRecords({ folder, log, logRollouts: config.run.logRollouts });
    const display = openTrainingDisplay({
      quiet: this.options.quiet,
      name: folder.name,
      iterations: length.last,
      secondsLeft: this.#costs.secondsLeft,
    });
    opened.add(records);
    opened.add(display);
    const warnings = warningsOf(
      {
        settings: new RunSettings(config),
        tools: chosen.tools.length > 0,
        prompt: promptOf(config),
        trainedParameters: parameters.trainedParameters,
      },
      log,
    );
    const costs: Subscriber = (event) => {
      const forecast = this.#costs.on(event);
      if (forecast !== undefined) log.info(forecast);
    };
    return [records.on, warnings, costs, display.on];
  }

  async progress({ usage, saved }: Session<TrainerState>) {
    const { agent, leftOut } = this.ready;
    const session = {
      ...(await usage.soFar()),
      tokens: this.#costs.tokens,
      generation: await generationTotals(agent.model),
      sandbox: agent.sandbox?.counts ?? null,
    };
    const earlier: SavedState | undefined = saved;
    return {
      /** Of this session so far and of those before it. */
      usage: addUsage(earlier?.usage, session),
      /** What tools and rewards report of the whole run. */
      reports: agent.reports(earlier?.reports),
      leftOut: leftOut.map(({ taskId }) => taskId),
    };
  }

  async train(session: Session<TrainerState> & TrainingOutput<TrainerState>) {
    const { agent, leftOut } = this.ready;
    const { config, chosen, tasks } = this.run;
    const { signal } = this.options;
    const { emit, save, usage, journal } = session;
    const { others, recordings } = agent.model;
    for (const one of recordings) one.recordIn(journal.run);
    const { kl, distill } = config.algorithm;
    const [reference, teacher] = [kl.reference, distill.teacher].map(
      (name) => others.get(name ?? '')?.scorer,
    );
    const result = await trainGrpo(
      {
        policies: new Map(
          [...this.policies].map(([name, { learner, weights }]) => [
            name,
            { learner, weights: journal.weights(weights, learner, name) },
          ]),
        ),
        reference,
        teacher,
        encode: (text) => this.run.model.text.encodeText(text),
        options: trainerOptions(config, chosen, session.record.folder.name),
        from: withDrawnWeights(session),
        rollouts: journal.rollouts(agent.rollouts),
        rewarding: agent.rewarding,
        tasks: tasksToDraw(this.run),
        evalTasks: tasks.evaluation,
        selectionTasks: tasks.selection,
        groupsOf: reportGroups,
        system: () => ({ 'system/peakRssBytes': usage.memory.peak.peakRssBytes }),
        emit,
        save,
      },
      signal,
    );
    // The checkpoint of the last complete iteration is written, but there is no result.
    throwIfFailed(signal);
    await usage.memory.stop();
    const { usage: used, reports } = await this.progress(session);
    const sandboxLevel = agent.sandbox?.capabilities().level;
    const facts = { usage: used, ...reports, sandboxLevel, leftOut };
    return concluded(this.run, session.record, { result, facts });
  }

  #logBeginning({ record: { folder, log }, opened }: Session<TrainerState>): void {
    const { agent, prompts, leftOut } = this.ready;
    const { config, policies } = this.run;
    writeToolFile(folder.tools, agent.toolSpecs);
    log.info(promptsText(prompts));
    for (const why of prompts.unmeasured) log.warn(why);
    if (leftOut.length > 0) log.shown(leftOutText(config, leftOut, 'all'));
    for (const [name, { model, learns }] of policies)
      log.info(
        `policies.${name}: ${model.folder} (${learns ? 'trained' : 'its weights never change'})`,
      );
    const { control } = config.train;
    if (control !== 'none')
      log.warn(`train.control is ${control}: this run is a control and should not learn`);
    const { stallS: limitS } = config.rollout.deadlines;
    const watch = StallWatch.start({ limitS, log: folder.log, onStall: this.options.onStall });
    if (watch !== undefined) opened.add(watch);
    else log.warn('A debugger is attached: the run does not end if a plugin blocks the process.');
    agent.model.incidents.listen((text) => log.warn(text));
    if (agent.sandbox === undefined) return;
    const { backend, level, concurrency } = agent.sandbox.capabilities();
    log.info(`Sandbox: ${backend}, level ${level}, ${concurrency} in parallel`);
    for (const why of agent.sandbox.skipped) log.warn(`Sandbox skipped: ${why}`);
    agent.sandbox.incidents.listen(({ message }) => log.warn(`Sandbox: ${message}`));
  }
}
