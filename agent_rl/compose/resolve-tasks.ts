import { dirname } from 'node:path';

import type { Config } from '../config/index.ts';
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
import { rejectUnplayable, withEnvironment } from './task-environments.ts';

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
  { environments }: Pick<ChosenPlugins, 'environments'>,
  request: TaskRequest & { print: (text: string) => void },
): Promise<RunTasks> {
  const { eval: evaluation, run } = config;
  const folders = taskFolders(config, { environments });
  const read = async (split: string): Promise<readonly TaskSet[]> => {
    const sets = await readTaskSets(folders, {
      split,
      warn: (text) => request.print(`Note: ${text}`),
    });
    return sets.map(({ tasks, weight }, folder) => {
      const ofFolder = config.datasets[folder]?.environment;
      return { weight, tasks: tasks.map((task) => withEnvironment(task, environments, ofFolder)) };
    });
  };
  const sets = request.train === undefined ? [] : await read(request.train);
  const heldOut = (await read(request.evaluation)).flatMap(({ tasks }) => tasks);
  const train = sets.flatMap(({ tasks }) => tasks);
  rejectLeaks(train, heldOut);
  rejectUnplayable([...train, ...heldOut], environments);
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
  { environments }: Pick<ChosenPlugins, 'environments'>,
): TaskFolder[] =>
  datasets.map(({ dir, weight, ...own }) => ({
    dir,
    weight,
    format: own.format ?? dataset.format ?? formatOf(environments, own.environment),
    columns: own.columns ?? dataset.columns,
    answerPattern: own.answerPattern ?? dataset.answerPattern,
  }));

/** That of a folder's environment; without one all have the same format, see `choosePlugins`. */
function formatOf(environments: ChosenPlugins['environments'], name?: string): string {
  const [first] = environments;
  const named = environments.find((one) => one.name === name) ?? first;
  return named?.entry.spec.taskFormat ?? '';
}

/** Where the training split of a folder of tasks was found. Absolute. */
export const datasetFolder = (
  dir: string,
  { trainSplit }: Pick<Config['dataset'], 'trainSplit'>,
): string => dirname(splitFile(dir, trainSplit));
