import type { ResolvedRun } from '../../../compose/resolve-run.ts';
import { AgentRlError } from '../../../core/errors.ts';
import type { Task } from '../../../core/tasks/task.ts';
import { withoutTasks } from '../../../../dataset/tasks/selection-tasks.ts';
import { countText } from '../../../telemetry/index.ts';
import type { PromptLengths } from './measure-prompts.ts';

/** A task that a run leaves out, as `summary.json` names it. */
export interface LeftOut {
  taskId: string;
  /** Of its prompt. */
  tokens: number;
}

const mostShown = 5;

/** The first of a list in words. */
export const firstOf = (all: readonly string[]): string =>
  `${all.slice(0, mostShown).join(', ')}${all.length > mostShown ? ', …' : ''}`;

const namesOf = (long: readonly LeftOut[]): string[] =>
  long.map(({ taskId, tokens }) => `${JSON.stringify(taskId)} (${tokens} tokens)`);

/**
 * The run without the tasks whose prompts are too long, where `dataset.tooLong` is `skip`: they are neither trained on nor
 * evaluated. Which ones follows from the prompts alone.
 *
 * @throws AgentRlError `DATASET_INVALID` where it is `refuse`, where a task generator makes such tasks without end, and
 * where no tasks are left
 */
export function withoutTooLong(
  run: ResolvedRun,
  { tooLong }: Pick<PromptLengths, 'tooLong'>,
): { run: ResolvedRun; leftOut: readonly LeftOut[] } {
  const { config, tasks } = run;
  const leftOut = tooLong.map(({ task: { taskId }, tokens }) => ({ taskId, tokens }));
  if (tooLong.length === 0) return { run, leftOut };
  const refused = (why = '') => promptsTooLong(run, leftOut, why);
  if (config.dataset.tooLong === 'refuse') throw refused();
  const out = new Set(tooLong.map(({ task }) => task));
  if (tasks.sets.some(({ endless, tasks: made }) => endless && made.some((one) => out.has(one))))
    throw refused(' Tasks of an endless generator cannot be skipped.');
  const fitting = (all: readonly Task[]): Task[] => all.filter((task) => !out.has(task));
  const left = {
    ...tasks,
    sets: withoutTasks(tasks.sets, out),
    train: fitting(tasks.train),
    selection: fitting(tasks.selection),
    evaluation: fitting(tasks.evaluation),
  };
  const trained = withoutTasks(left.sets, new Set(left.selection));
  if (trained.some(({ endless, tasks: own }) => endless === undefined && own.length === 0))
    throw refused(' Without them, a data set has no training tasks.');
  if (left.evaluation.length === 0) throw refused(' Without them, there are no held-out tasks.');
  if (tasks.selection.length > 0 && left.selection.length === 0)
    throw refused(' Without them, there are no tasks for choosing the best checkpoint.');
  return { run: { ...run, tasks: left }, leftOut };
}

function promptsTooLong(
  { config: { dataset, rollout }, tasks }: ResolvedRun,
  long: readonly LeftOut[],
  why: string,
): AgentRlError {
  const all = new Set([...tasks.train, ...tasks.selection, ...tasks.evaluation]).size;
  const skip = dataset.tooLong === 'refuse' ? ', or skip them with dataset.tooLong: skip' : '';
  return new AgentRlError(
    'DATASET_INVALID',
    `${long.length} of ${all} prompts leave no room to answer in rollout.maxEpisodeTokens = ${rollout.maxEpisodeTokens}: ${firstOf(namesOf(long))}.${why} Raise rollout.maxEpisodeTokens (with policy.maxContextTokens and algorithm.microBatchTokens), shorten or remove the tasks${skip}.`,
  );
}

/** For the user: which tasks are left out; the first of them, or all. */
export function leftOutText(
  { rollout }: ResolvedRun['config'],
  leftOut: readonly LeftOut[],
  which: 'first' | 'all',
): string {
  const names = namesOf(leftOut);
  const shown = which === 'all' ? names.join(', ') : firstOf(names);
  return `Skipped ${countText(leftOut.length, 'task')} with prompts that leave no room to answer in rollout.maxEpisodeTokens = ${rollout.maxEpisodeTokens} (dataset.tooLong: skip): ${shown}.`;
}

/** What a checkpoint keeps of tasks that were left out, by their ids. */
export interface SavedLeftOut {
  leftOut?: readonly string[];
}

/** @throws AgentRlError `CHECKPOINT_INVALID` where the run would go on with other tasks than it began with */
export function requireSameLeftOut(
  { leftOut: before = [] }: SavedLeftOut,
  leftOut: readonly LeftOut[],
): void {
  const now = leftOut.map(({ taskId }) => taskId);
  const other = [
    ...before.filter((taskId) => !now.includes(taskId)),
    ...now.filter((taskId) => !before.includes(taskId)),
  ];
  if (other.length === 0) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run skipped ${countText(before.length, 'task')} with prompts that are too long, but would now skip ${now.length}. Tasks that differ: ${firstOf(other.map((taskId) => JSON.stringify(taskId)))}. Restore dataset.tooLong, rollout.maxEpisodeTokens and the settings that prompts depend on.`,
  );
}
