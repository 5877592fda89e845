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
  /** The evaluation split. */
  evaluation: string;
  /** The training split. */
  train?: string;
}

/** The tasks of a run. */
export interface RunTasks {
  /** The training split, one set per source. */
  sets: readonly TaskSet[];
  /** All tasks of folders; of generators, the tasks generated before the run. */
  train: readonly Task[];
  /** Tasks held out from training to choose the best checkpoint: for folders, part of `train`. */
  selection: readonly Task[];
  evaluation: readonly Task[];
  /** Tasks from which rewards may set their scale: the training tasks or, without training, the evaluation tasks. */
  rewarded: readonly Task[];
}

/** For a job without tasks. */
export const noTasks: RunTasks = {
  sets: [],
  train: [],
  selection: [],
  evaluation: [],
  rewarded: [],
};

/**
 * Reads the tasks of a config, and generates the tasks that are needed before a run. Tasks generated later are checked
 * the same way when they are drawn.
 *
 * @throws AgentRlError `DATASET_INVALID`, also for held-out tasks that are in the training split; `CONFIG_INVALID`,
 * also when holding out tasks for the best checkpoint leaves too few to train on
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
 * For generators, the number of tasks of the whole run in the training split; 0 in the evaluation split.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a split that a generator does not have
 */
function drawsOf(config: Config, split: string): number | undefined {
  const { trainSplit, evalSplit } = config.dataset;
  // The planned length, not the session's, so that rewards see the same tasks after a resume.
  if (split === trainSplit) return runLength(config).planned * config.rollout.tasksPerStep;
  const generated = config.datasets.find(({ generator }) => generator !== undefined);
  if (split === evalSplit || generated === undefined) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `A task generator (${generated.generator?.type}) has no split ${JSON.stringify(split)}. Use ${trainSplit} or ${evalSplit}.`,
  );
}
