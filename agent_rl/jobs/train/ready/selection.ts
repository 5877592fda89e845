import type { ResolvedRun } from '../../../compose/resolve-run.ts';
import { chooseSelection } from '../../../../dataset/tasks/selection-tasks.ts';

/**
 * The run with the tasks that its best checkpoint is chosen by, cut from those it trains on.
 *
 * @throws AgentRlError `CONFIG_INVALID` when too few are left to train on.
 */
export function withSelection(run: ResolvedRun): ResolvedRun {
  const { checkpoint, eval: evaluation, run: settings } = run.config;
  if (!checkpoint.keepBest) return run;
  const { selectionTasks: count } = evaluation;
  const selection = chooseSelection(run.tasks.sets, { count, seed: settings.seed });
  return { ...run, tasks: { ...run.tasks, selection } };
}
