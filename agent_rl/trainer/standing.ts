import { drawsOf, stateAfter } from '../../dataset/tasks/plan/task-plan.ts';
import { AgentRlError } from '../core/errors.ts';
import { spanned } from '../core/profile/spans.ts';
import type { CheckpointReason, Phase } from '../core/run-event.ts';
import type { WeightRef } from '../core/services/weights.ts';
import type { Task } from '../core/tasks/task.ts';
import { noTotals } from './iteration-report.ts';
import type { GrpoRun, TrainerState, TrainingOutput } from './trainer-contracts.ts';

/** The position of a training. */
export interface Standing<State extends { iteration: number }, Run = TrainingOutput<State>> {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** After the last whole iteration. */
  state: State;
  /** Iteration of the newest checkpoint, even if writing it failed. */
  checkpointed: number | undefined;
  /** The weights have changed in an iteration that is not recorded yet. */
  midway: boolean;
}

export type GrpoStanding = Standing<TrainerState, GrpoRun> & {
  /** The weights that were published last. */
  published?: WeightRef | undefined;
};

/** The start of a run, or the position of its checkpoint; the learner's own state is loaded separately. */
export function beginning(run: GrpoRun, signal: AbortSignal): GrpoStanding {
  const { options, tasks, selectionTasks = [], from } = run;
  if (options.checkpoint.keepBest && selectionTasks.length === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      'checkpoint.keepBest needs held-out tasks. Pass selectionTasks, or set keepBest: false.',
    );
  if (from !== undefined) requireSameSelection(from, selectionTasks);
  if (from !== undefined && (from.lag ?? 0) !== options.lag)
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The run has async.lag ${from.lag ?? 0}, but the config now sets ${options.lag}. Do not change it when resuming.`,
    );
  const state: TrainerState = {
    iteration: 0,
    optimizerSteps: 0,
    best: null,
    selectionTasks: selectionTasks.length,
    before: null,
    totals: noTotals,
    recentFailures: [],
    lag: options.lag,
    ...from,
    tasks: stateAfter(from === undefined ? 0 : drawsOf(from.tasks, tasks), tasks),
  };
  return { run, signal, state, checkpointed: from?.iteration, midway: false };
}

/** @throws AgentRlError `CHECKPOINT_INVALID` if the number of held-out tasks changed */
export function requireSameSelection(
  { selectionTasks: before }: Pick<TrainerState, 'selectionTasks'>,
  { length: now }: readonly Task[],
): void {
  if (before === now) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run holds out ${before} tasks to choose its best checkpoint, but the config now sets ${now}. Do not change checkpoint.keepBest and eval.selectionTasks when resuming.`,
  );
}

/** Says what the training begins to do. */
export function enter<State extends { iteration: number }>(
  at: Standing<State>,
  phase: Phase,
): void {
  at.run.emit({ type: 'phase', iteration: at.state.iteration, ...phase });
}

/** Writes a checkpoint with the current position. */
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
 * Trains. After a failure it writes a checkpoint, unless the newest already has the last completed iteration or no
 * iteration was completed. It excludes the gradients of a failed update.
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
    // The first failure is thrown.
    throw thrown;
  }
}
