import { dirname } from 'node:path';

import type { Config } from '../config/index.ts';
import type { Task } from '../core/tasks/task.ts';
import { chooseTasks } from '../trainer/evaluate.ts';
import { splitFile } from '../../dataset/tasks/task-files.ts';
import {
  readTaskSets,
  rejectLeaks,
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
  { dataset, datasets, eval: evaluation, run }: Config,
  { environment }: Pick<ChosenPlugins, 'environment'>,
  request: TaskRequest & { print: (text: string) => void },
): Promise<RunTasks> {
  const format = dataset.format ?? environment.entry.spec.taskFormat;
  const read = (split: string) =>
    readTaskSets(datasets, {
      split,
      format,
      warn: (text) => request.print(`Note: ${text}`),
    });
  const sets = request.train === undefined ? [] : await read(request.train);
  const heldOut = (await read(request.evaluation)).flatMap(({ tasks }) => tasks);
  const train = sets.flatMap(({ tasks }) => tasks);
  rejectLeaks(train, heldOut);
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

/** Where the training split of a folder of tasks was found. Absolute. */
export const datasetFolder = (
  dir: string,
  { trainSplit }: Pick<Config['dataset'], 'trainSplit'>,
): string => dirname(splitFile(dir, trainSplit));
