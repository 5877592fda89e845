import { drawsOf, stateAfter } from '../../dataset/tasks/plan/task-plan.ts';
import { AgentRlError } from '../core/errors.ts';
import { spanned } from '../core/profile/spans.ts';
import type { CheckpointReason, Phase } from '../core/run-event.ts';
import type { Task } from '../core/tasks/task.ts';
import { noTotals } from './iteration-report.ts';
import type { GrpoRun, TrainerState, TrainingOutput } from './trainer-contracts.ts';

/** Where a training stands. */
export interface Standing<State extends { iteration: number }, Run = TrainingOutput<State>> {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** After the last whole iteration. */
  state: State;
  /** Iteration of the newest checkpoint, though it may have been tried in vain. */
  checkpointed: number | undefined;
  /** The weights have moved, and the iteration they moved in is not recorded. */
  midway: boolean;
}

export type GrpoStanding = Standing<TrainerState, GrpoRun>;

/** The beginning of a run, or where its checkpoint left it; the learner's own state is loaded separately. */
export function beginning(run: GrpoRun, signal: AbortSignal): GrpoStanding {
  const { options, tasks, selectionTasks = [], from } = run;
  if (options.checkpoint.keepBest && selectionTasks.length === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      'checkpoint.keepBest needs tasks to choose by that are not trained on. Give selectionTasks, or keepBest: false.',
    );
  if (from !== undefined) requireSameSelection(from, selectionTasks);
  const state: TrainerState = {
    iteration: 0,
    optimizerSteps: 0,
    best: null,
    selectionTasks: selectionTasks.length,
    before: null,
    totals: noTotals,
    recentFailures: [],
    ...from,
    tasks: stateAfter(from === undefined ? 0 : drawsOf(from.tasks, tasks), tasks),
  };
  return { run, signal, state, checkpointed: from?.iteration, midway: false };
}

/** @throws AgentRlError `CHECKPOINT_INVALID` where another number of tasks was kept out of training */
export function requireSameSelection(
  { selectionTasks: before }: Pick<TrainerState, 'selectionTasks'>,
  { length: now }: readonly Task[],
): void {
  if (before === now) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run keeps ${before} tasks out of training to choose its best checkpoint by, and would now keep ${now}. Leave checkpoint.keepBest and eval.selectionTasks as they were.`,
  );
}

/** Says what the training begins to do. */
export function enter<State extends { iteration: number }>(
  at: Standing<State>,
  phase: Phase,
): void {
  at.run.emit({ type: 'phase', iteration: at.state.iteration, ...phase });
}

/** Writes a checkpoint, and takes the state in it for where the training stands. */
export async function checkpoint<State extends { iteration: number }>(
  at: Standing<State>,
  reason: CheckpointReason,
  state: State = at.state,
): Promise<void> {
  const { iteration } = state;
  if (reason !== 'best') at.checkpointed = iteration;
  enter(at, { name: 'checkpoint' });
  const written = await spanned({ track: 'trainer', name: 'checkpoint' }, () =>
    at.run.save(reason, state),
  );
  at.state = state;
  at.run.emit({ type: 'checkpoint', reason, iteration, ...written });
}

/**
 * Trains. After a failure a checkpoint is written, unless the newest is of the last whole iteration or nothing was done
 * yet. What a failed update has accumulated is no part of it.
 */
export async function keepingState<
  State extends { iteration: number; before?: unknown },
  Run extends TrainingOutput<State>,
  Result,
>(at: Standing<State, Run>, train: (at: Standing<State, Run>) => Promise<Result>): Promise<Result> {
  try {
    return await train(at);
  } catch (thrown) {
    const { iteration, before = null } = at.state;
    const nothingDone = iteration === 0 && before === null;
    if (at.midway) at.run.emit({ type: 'state-lost' });
    else if (!nothingDone && at.checkpointed !== iteration)
      await checkpoint(at, 'failed').catch((problem: unknown) =>
        at.run.emit({ type: 'state-lost', problem }),
      );
    // What failed first is what is thrown.
    throw thrown;
  }
}
