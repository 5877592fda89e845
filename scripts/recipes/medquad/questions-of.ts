import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { resolveTasks } from '../../../agent_rl/compose/resolve-tasks.ts';
import { most } from '../../../agent_rl/config/blocks/block.ts';
import type { SearchTask } from '../../../agent_rl/core/tasks/search-task.ts';
import { prepareOwn, type SeedOptions } from '../../bench/controls/seed.ts';

/** Questions of a run. */
export interface Questions {
  train: readonly SearchTask[];
  /** The questions that an evaluation attempts, in its order. */
  evaluation: readonly SearchTask[];
}

/** The questions of a run of the environment `search`. */
export async function questionsOf(
  { chosen, loaded: { config } }: PreparedRun,
  print: (text: string) => void,
): Promise<Questions> {
  const { trainSplit: train, evalSplit: evaluation } = config.dataset;
  const tasks = await resolveTasks(config, chosen, { train, evaluation, print });
  return {
    train: tasks.train as readonly SearchTask[],
    evaluation: tasks.evaluation as readonly SearchTask[],
  };
}

/** The document that each held-out question is about, of those too that this seed does not draw. */
export async function documentsOf(options: SeedOptions): Promise<ReadonlyMap<string, string>> {
  const prepared = await prepareOwn(options, { 'eval.maxTasks': most.count });
  const { evaluation } = await questionsOf(prepared, () => {});
  return new Map(evaluation.map(({ taskId, documentIds }) => [taskId, documentIds[0] ?? taskId]));
}
