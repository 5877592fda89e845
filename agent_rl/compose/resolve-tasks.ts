import { type Config, runLength } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Task } from '../core/tasks/task.ts';
import { chooseTasks } from '../trainer/evaluate.ts';
import { chooseSelection } from '../../dataset/tasks/selection-tasks.ts';
import { mapEndless } from '../../dataset/tasks/plan/endless-plan.ts';
import {
  mapTasks,
  readTaskSets,
  rejectLeaks,
  type TaskSet,
  warnIfFewer,
} from '../../dataset/tasks/task-sets.ts';
import type { ChosenPlugins } from './plugins/choose-plugins.ts';
import { rejectUnplayable, withEnvironment } from './task-environments.ts';
import { taskSources } from './task-sources.ts';

/** The tasks that a job reads. */
export interface TaskRequest {
  /** Split that is attempted, and not trained on. */
  evaluation: string;
  /** Split that is trained on. */
  train?: string;
}

/** The tasks of a run, read and chosen. */
export interface RunTasks {
  /** Of the split that is trained on, a set for each source. */
  sets: readonly TaskSet[];
  /** All of folders; of generators, those that were made before the run. */
  train: readonly Task[];
  /** Those that are kept out of training to choose the best checkpoint by: of folders, some of `train`. */
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
 * Reads the tasks of a config, and makes those of generators that can be made before a run. What is made later is held to
 * the same when it is drawn.
 *
 * @throws AgentRlError `DATASET_INVALID`, also for held-out tasks that are trained on too; `CONFIG_INVALID`, also when too
 * few are left to train on beside those that the best checkpoint is chosen by
 */
export async function resolveTasks(
  config: Config,
  { environments, taskGenerators }: Pick<ChosenPlugins, 'environments' | 'taskGenerators'>,
  request: TaskRequest & { print: (text: string) => void },
): Promise<RunTasks> {
  const { eval: evaluation, checkpoint, run } = config;
  const sources = taskSources(config, { environments, taskGenerators });
  const read = async (split: string): Promise<readonly TaskSet[]> => {
    const sets = await readTaskSets(sources, {
      split,
      draws: drawsOf(config, split),
      warn: (text) => request.print(`Note: ${text}`),
    });
    return sets.map((set, index) => {
      const named = config.datasets[index]?.environment;
      return mapTasks(set, (task) => withEnvironment(task, environments, named));
    });
  };
  const sets = request.train === undefined ? [] : await read(request.train);
  const heldOutSets = await read(request.evaluation);
  const heldOut = heldOutSets.flatMap(({ tasks }) => tasks);
  const train = sets.flatMap(({ tasks }) => tasks);
  rejectUnplayable([...sets, ...heldOutSets], environments);
  rejectLeaks(train, heldOut);
  warnIfFewer('eval.maxTasks', evaluation.maxTasks, heldOut.length, request.print);
  const chosen = chooseTasks(heldOut, evaluation.maxTasks, run.seed);
  const checked = (task: Task): Task => {
    rejectUnplayable([{ tasks: [task] }], environments);
    rejectLeaks([task], heldOut);
    return task;
  };
  const kept = sets.map(({ endless, ...set }) =>
    endless === undefined ? set : { ...set, endless: mapEndless(endless, checked) },
  );
  return {
    sets: kept,
    train,
    selection:
      checkpoint.keepBest && sets.length > 0
        ? chooseSelection(kept, { count: evaluation.selectionTasks, seed: run.seed })
        : [],
    evaluation: chosen,
    rewarded: sets.length === 0 ? chosen : train,
  };
}

/**
 * Of a split of generators, the draws of the whole run where it is trained on; none where it is evaluated on.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a split that a generator does not have
 */
function drawsOf(config: Config, split: string): number | undefined {
  const { trainSplit, evalSplit } = config.dataset;
  // As planned, and not as far as a session goes: what rewards see of the tasks is then the same after a resume.
  if (split === trainSplit) return runLength(config).planned * config.rollout.tasksPerStep;
  const generated = config.datasets.find(({ generator }) => generator !== undefined);
  if (split === evalSplit || generated === undefined) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `A task generator (${generated.generator?.type}) has no split ${JSON.stringify(split)}: only ${trainSplit}, which it makes without end, and ${evalSplit}. Name one of these.`,
  );
}
