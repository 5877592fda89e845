import type { PreparedRun } from '../../../../agent_rl/compose/prepare-run.ts';
import { resolveRun } from '../../../../agent_rl/compose/resolve-run.ts';
import type { Task } from '../../../../agent_rl/core/tasks/task.ts';
import { planOf } from '../../../../dataset/tasks/task-sets.ts';
import { prepareEvaluated, prepareOwn, type SeedOptions } from '../seed.ts';

export interface OwnTasks {
  prepared: PreparedRun;
  evaluation: readonly Task[];
  /** The first `count` tasks that the run draws or would draw if it went on; some may come up again. */
  drawn: (count: number) => readonly Task[];
  /** The tasks that it trains on, each once. */
  trained: readonly Task[];
}

/** The tasks of a run, without opening anything. */
export async function runTasks(options: SeedOptions): Promise<OwnTasks> {
  const prepared = await prepareEvaluated(options);
  const { trainSplit, evalSplit } = prepared.loaded.config.dataset;
  const { config, tasks } = await resolveRun(prepared, {
    ...options,
    trains: true,
    tasks: { train: trainSplit, evaluation: evalSplit },
  });
  const { dataset, train, rollout } = config;
  const plan = planOf(tasks.sets, {
    seed: config.run.seed,
    shuffle: dataset.shuffle,
    maxSamples: dataset.maxSamples,
  });
  const drawn = (count: number): readonly Task[] => plan.tasksAt(0, count);
  const all = drawn(train.iterations * rollout.tasksPerStep);
  const trained = [...new Map(all.map((task) => [task.taskId, task])).values()];
  return { prepared, evaluation: tasks.evaluation, drawn, trained };
}

/** The environments of a run by the names of their types. */
export async function environmentsOf(options: SeedOptions): Promise<string[]> {
  const { chosen } = await prepareOwn(options);
  return chosen.environments.map(({ entry }) => entry.spec.name);
}
