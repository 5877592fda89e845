import { dirname } from 'node:path';

import type { Config } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Task } from '../core/tasks/task.ts';
import { chooseTasks } from '../trainer/evaluate.ts';
import { splitFile } from '../../dataset/tasks/task-files.ts';
import {
  readTaskSets,
  rejectLeaks,
  type TaskFolder,
  warnIfFewer,
  type TaskSet,
} from '../../dataset/tasks/task-sets.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';

/** The tasks that a job reads. */
export interface TaskRequest {
  /** Split that is attempted, and not trained on. */
  evaluation: string;
  /** Split that is trained on. */
  train?: string;
}

/** The tasks of a run, read and chosen. */
export interface RunTasks {
  /** Of the split that is trained on, a set for each folder. */
  sets: readonly TaskSet[];
  train: readonly Task[];
  /** Of `train`, those that a job keeps out of training to choose the best checkpoint by. */
  selection: readonly Task[];
  evaluation: readonly Task[];
  /** What rewards may set their scale by: what is trained on or, where nothing is, attempted. */
  rewarded: readonly Task[];
}

/** Of a job that attempts none. */
export const noTasks: RunTasks = {
  sets: [],
  train: [],
  selection: [],
  evaluation: [],
  rewarded: [],
};

/**
 * Reads the tasks of a config.
 *
 * @throws AgentRlError `DATASET_INVALID`, also for held-out tasks that are trained on too; `CONFIG_INVALID`
 */
export async function resolveTasks(
  config: Config,
  { environment }: Pick<ChosenPlugins, 'environment'>,
  request: TaskRequest & { print: (text: string) => void },
): Promise<RunTasks> {
  const { eval: evaluation, run } = config;
  const folders = taskFolders(config, { environment });
  const read = (split: string) =>
    readTaskSets(folders, { split, warn: (text) => request.print(`Note: ${text}`) });
  const sets = request.train === undefined ? [] : await read(request.train);
  const heldOut = (await read(request.evaluation)).flatMap(({ tasks }) => tasks);
  const train = sets.flatMap(({ tasks }) => tasks);
  rejectLeaks(train, heldOut);
  rejectUnplayable([...train, ...heldOut], environment);
  warnIfFewer('eval.maxTasks', evaluation.maxTasks, heldOut.length, request.print);
  const chosen = chooseTasks(heldOut, evaluation.maxTasks, run.seed);
  return {
    sets,
    train,
    selection: [],
    evaluation: chosen,
    rewarded: sets.length === 0 ? chosen : train,
  };
}

/** The folders of a config's tasks, each with how it is read: as it says itself, as `dataset` says, or as its environment. */
export const taskFolders = (
  { dataset, datasets }: Pick<Config, 'dataset' | 'datasets'>,
  { environment }: Pick<ChosenPlugins, 'environment'>,
): TaskFolder[] =>
  datasets.map(({ dir, weight, ...own }) => ({
    dir,
    weight,
    format: own.format ?? dataset.format ?? environment.entry.spec.taskFormat,
    columns: own.columns ?? dataset.columns,
    answerPattern: own.answerPattern ?? dataset.answerPattern,
  }));

const mostShown = 5;

/** @throws AgentRlError `DATASET_INVALID` for tasks that the environment could never judge */
function rejectUnplayable(
  tasks: readonly Task[],
  { entry: { spec }, settings }: ChosenPlugins['environment'],
): void {
  const problems = tasks.flatMap((task) => {
    const problem = spec.taskProblem?.(task, settings);
    return problem === undefined ? [] : [`Task ${JSON.stringify(task.taskId)}: ${problem}`];
  });
  if (problems.length === 0) return;
  const more = problems.length > mostShown ? ['…'] : [];
  const shown = [...problems.slice(0, mostShown), ...more].join('\n  ');
  throw new AgentRlError(
    'DATASET_INVALID',
    `${problems.length} of ${tasks.length} tasks cannot be judged by environment ${spec.name}:\n  ${shown}`,
  );
}

/** Where the training split of a folder of tasks was found. Absolute. */
export const datasetFolder = (
  dir: string,
  { trainSplit }: Pick<Config['dataset'], 'trainSplit'>,
): string => dirname(splitFile(dir, trainSplit));
