import type { Override } from '../config/index.ts';
import type { PrepareRunOptions } from '../compose/prepare-run.ts';
import { nextStepOf } from '../core/errors.ts';
import type { TrainingEvent } from '../trainer/trainer-contracts.ts';
import {
  agentInCode,
  type AgentParts,
  placeOfTasks,
  type TasksInCode,
} from './code/agent-in-code.ts';
import { EventStream } from '../core/collections/event-stream.ts';
import { callInstead } from './code/call-instead.ts';
import { checkTrainingOptions } from './code/check-options.ts';
import { writeTrainingTasks } from './code/task-folder.ts';
import { unlessBlocked } from './code/unless-blocked.ts';
import type { JobResult } from './job.ts';
import { jobs, trainingJob } from './jobs.ts';

/** How a training is run, whatever it is described by. */
export interface TrainingControls {
  /** Settings by dotted path, over all others: `{ 'run.seed': 2 }`. */
  overrides?: Readonly<Record<string, unknown>>;
  /** Run folder to continue; `newest` for the newest run of the config's output folder. */
  resume?: string;
  /** Resumes with other engine threads or on another device than before anyway. */
  allowOtherMachine?: boolean;
  /** Checks all that the run needs and only gives the plan: nothing is trained, and no run is written. */
  dryRun?: boolean;
  /** Of a dry run: measures how fast this machine is, and guesses how long the run will take (`expectedS`). */
  measure?: boolean;
  /** Ends the run at the next safe place, with a checkpoint. */
  signal?: AbortSignal;
  /** Is given the preview, the plan and the table; they are not shown without it. */
  print?: (text: string) => void;
  /** Only warnings and errors go to stderr, and no progress; `print` is given the table alone. */
  quiet?: boolean;
}

/** A training described by a run file. */
export interface TrainFileOptions extends TrainingControls {
  /** Path of a run file (YAML). */
  config: string;
  /** Packages, or files relative to the working directory, that bring plugins in addition to the plugins of the file. */
  plugins?: readonly string[];
}

/** A training described by a program; `reward` is given the task of a row. */
export interface TrainCodeOptions<Row extends object = object>
  extends TrainingControls, AgentParts<Row>, TasksInCode<Row> {
  config?: never;
}

/** A training, described by a program or by a run file. */
export type TrainAgentOptions<Row extends object = object> =
  TrainFileOptions | TrainCodeOptions<Row>;

/** A training under way: its result when it is awaited, its events when it is iterated. */
export interface TrainingUnderWay extends Promise<JobResult>, AsyncIterable<TrainingEvent> {}

/**
 * Trains an agent: one that a run file describes, as `agent-rl train` does, or one made of what a program gives. Both
 * become the same kind of run.
 *
 * @returns what the run's `summary.json` holds, and its folder as `run`. Iterated over, it gives the events of the run
 * as they happen; what ends the run with an error is then thrown from the loop.
 * @throws AgentRlError for what the user can fix, as the command does.
 * @example
 * ```ts
 * const summary = await trainAgent({ config: 'configs/workspace_grpo.yaml', print: console.log });
 * ```
 * @example
 * ```ts
 * const training = trainAgent({ tasks, tools: [add], reward: ({ verdict }) => Number(verdict.success) });
 * for await (const event of training)
 *   if (event.type === 'iteration') console.log(event.metrics['rollout/successRate']);
 * const { run } = await training;
 * ```
 */
export function trainAgent<Row extends object = object>(
  options: TrainAgentOptions<Row>,
): TrainingUnderWay {
  const events = new EventStream<TrainingEvent>();
  const result = run(options, (event) => events.push(event)).finally(() => events.end());
  async function* read(): AsyncGenerator<TrainingEvent, void> {
    yield* events.read();
    await result;
  }
  return Object.assign(result, {
    [Symbol.asyncIterator]: () => {
      // The loop throws what ends the run.
      result.catch(() => undefined);
      return read();
    },
  });
}

async function run<Row extends object>(
  options: TrainAgentOptions<Row>,
  onEvent: (event: TrainingEvent) => void,
): Promise<JobResult> {
  checkTrainingOptions(options);
  const { dryRun = false, measure = false, resume } = options;
  const { allowOtherMachine = false, quiet = false } = options;
  const { print = () => undefined } = options;
  const described = await descriptionOf(options, print);
  const instead = callInstead.train(resume);
  try {
    return await unlessBlocked(options.signal, async (context) => {
      // With it come all plugins that ship: a program that only imports this package needs none.
      const { prepareRun } = await import('../compose/prepare-run.ts');
      const prepared = await prepareRun({ ...described, training: true, instead }, context.signal);
      for (const warning of prepared.loaded.warnings) print(`Note: ${warning}`);
      return jobs[trainingJob(prepared.loaded.config)]({
        ...prepared,
        ...context,
        print,
        quiet,
        dryRun,
        measure,
        allowOtherMachine,
        onEvent,
        resume,
      });
    });
  } catch (error) {
    const next = nextStepOf(error);
    if (next !== undefined) print(next);
    throw error;
  }
}

async function descriptionOf<Row extends object>(
  options: TrainAgentOptions<Row>,
  print: (text: string) => void,
): Promise<PrepareRunOptions> {
  const { overrides } = options;
  if (options.config !== undefined)
    return { file: options.config, flags: flagsOf(overrides, options.plugins) };
  const { tasks, evalTasks } = options;
  const { dir, notes } = await writeTrainingTasks({ ...placeOfTasks(options), tasks, evalTasks });
  for (const note of notes) print(`Note: ${note}`);
  const described = await agentInCode(options, { caller: 'trainAgent', dir });
  return { ...described, flags: flagsOf(overrides) };
}

const flagsOf = (
  overrides: TrainingControls['overrides'] = {},
  plugins: readonly string[] = [],
): readonly Override[] => [
  ...Object.entries(overrides).map(([path, value]) => ({
    source: `overrides['${path}']`,
    path,
    value,
  })),
  ...plugins.map((value, index) => ({
    source: `plugins[${index}]`,
    path: 'plugins',
    value,
    append: true,
  })),
];
