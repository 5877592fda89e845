import type { ResolvedRun } from '../../../compose/resolve-run.ts';
import { readTrainerState } from '../../../runs/checkpoints.ts';
import type { ResumePoint } from '../../../runs/resume-point.ts';
import type { TrainerState } from '../../../trainer/trainer-contracts.ts';
import { chooseSelection } from '../../../../dataset/tasks/selection-tasks.ts';

/**
 * The run with the tasks that its best checkpoint is chosen by, cut from those it trains on. One begun by version 0.1
 * has trained on all of them, so that none can choose now.
 *
 * @throws AgentRlError `CONFIG_INVALID` when too few are left to train on.
 */
export function withSelection(
  run: ResolvedRun,
  resume?: Pick<ResumePoint, 'checkpoint'>,
): ResolvedRun {
  const { checkpoint, eval: evaluation, run: settings } = run.config;
  if (!checkpoint.keepBest) return run;
  if (resume?.checkpoint !== undefined) {
    const { selectionTasks } = readTrainerState(resume.checkpoint) as TrainerState;
    if (selectionTasks === undefined) return { ...run, notes: [...run.notes, noneKept] };
  }
  const { selectionTasks: count } = evaluation;
  const selection = chooseSelection(run.tasks.sets, { count, seed: settings.seed });
  return { ...run, tasks: { ...run.tasks, selection } };
}

const noneKept =
  'The run was begun by version 0.1, which kept no tasks out of training to choose the best checkpoint by. None is chosen from now on; one in checkpoints/best was chosen on the held-out tasks.';
