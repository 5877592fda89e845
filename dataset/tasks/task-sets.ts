import { basename } from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { evaluationTasks, type GeneratedTasks, trainingTasks } from './generated-tasks.ts';
import { type EndlessTasks, mapEndless } from './plan/endless-plan.ts';
import { MixedPlan, planOfOne } from './plan/mixed-plan.ts';
import type { TaskPlan, TaskPlanOptions } from './plan/task-plan.ts';
import { otherSplitFiles, readTaskFile, splitFileToRead } from './task-files.ts';

/** Tasks of one source, and how often they are drawn. */
export interface TaskSet {
  /** All tasks of a folder, or the tasks that a generator makes before the run starts. */
  tasks: readonly Task[];
  /** An endless set that is drawn from instead of `tasks`, which are its beginning. */
  endless?: EndlessTasks | undefined;
  weight: number;
  /** Where each task of a folder is, as `file:line`, by its id. */
  places?: ReadonlyMap<string, string>;
}

/** A folder of tasks, and how it is read. */
export interface TaskFolder extends TableReading {
  dir: string;
  format: string;
}

/** Where tasks come from, and how often those are drawn. */
export type TaskSource = (TaskFolder | GeneratedTasks) & { weight: number };

/** Which tasks of sources are read. */
export interface SplitRequest {
  /** Split of folders. */
  split: string;
  /** The number of the run's draws whose tasks an endless generator makes now. */
  draws?: number | undefined;
  warn: (text: string) => void;
}

/** Most tasks of a generator that are made and checked before a run starts; the others are when they are drawn. */
export const mostMadeAhead = 4096;

/**
 * A split of each source of tasks; of a generator, its evaluation, or with `draws` its training tasks. Where there are several
 * sources, each task's `metadata.set` names its own, under which it is reported.
 *
 * @throws AgentRlError as `readTaskFile`, `trainingTasks` and `evaluationTasks` do, and `DATASET_INVALID` when two sets have a
 * task of one id.
 */
export async function readTaskSets(
  sources: readonly TaskSource[],
  { split, draws, warn }: SplitRequest,
): Promise<readonly TaskSet[]> {
  const sets: TaskSet[] = [];
  const total = sources.reduce((sum, { weight }) => sum + weight, 0);
  for (const source of sources) {
    const { weight } = source;
    const share = draws === undefined ? undefined : Math.ceil((draws * weight) / total);
    const set =
      'dir' in source ? await readFolder(source, split, warn) : generatedSet(source, share);
    const named = mapTasks({ ...set, weight }, (task) => ofSet(task, nameOf(source)));
    sets.push(sources.length === 1 ? { ...set, weight } : named);
  }
  rejectDuplicateIds(sets, split);
  return sets;
}

async function readFolder(
  { dir, format, ...reading }: TaskFolder,
  split: string,
  warn: SplitRequest['warn'],
): Promise<Pick<TaskSet, 'tasks' | 'places'>> {
  const { columns, answerPattern } = reading;
  const file = splitFileToRead(dir, split);
  const { tasks, places } = await readTaskFile(file, format, { columns, answerPattern });
  otherSplitFiles(dir, split).forEach(warn);
  return { tasks, places };
}

function generatedSet(generated: GeneratedTasks, draws: number | undefined) {
  if (draws === undefined) return { tasks: evaluationTasks(generated) };
  const endless = trainingTasks(generated);
  const { seed } = generated;
  const ahead = Math.min(draws, mostMadeAhead);
  return { tasks: planOfOne(endless, { seed }).tasksAt(0, ahead), endless };
}

const nameOf = (source: TaskSource): string =>
  'dir' in source ? basename(source.dir) : source.name;

/** A set with each of its tasks changed, those that are yet to be made too. */
export function mapTasks(
  { endless, tasks, ...set }: TaskSet,
  change: (task: Task) => Task,
): TaskSet {
  return {
    ...set,
    tasks: tasks.map(change),
    endless: endless && mapEndless(endless, change),
  };
}

const ofSet = (task: Task, set: string): Task => ({
  ...task,
  metadata: { ...task.metadata, set },
});

function rejectDuplicateIds(sets: readonly TaskSet[], split: string): void {
  const ids = new Set<string>();
  for (const { taskId } of sets.flatMap(({ tasks }) => tasks)) {
    if (ids.has(taskId)) {
      throw new AgentRlError(
        'DATASET_INVALID',
        `Two data sets have a task with the id ${JSON.stringify(taskId)} in split ${split}. Ids must be unique across sets.`,
      );
    }
    ids.add(taskId);
  }
}

/**
 * Rejects held-out tasks that are also trained on: their score would mean nothing.
 *
 * @throws AgentRlError `DATASET_INVALID` when a task of both has the same id or the same prompt.
 */
export function rejectLeaks(trained: readonly Task[], held: readonly Task[]): void {
  const ids = new Set(trained.map(({ taskId }) => taskId));
  const byPrompt = new Map(trained.map(({ prompt, taskId }) => [prompt.trim(), taskId]));
  const leaks = held.flatMap(({ taskId, prompt }) => {
    if (ids.has(taskId)) return [`${JSON.stringify(taskId)} (same id)`];
    const twin = byPrompt.get(prompt.trim());
    return twin === undefined
      ? []
      : [`${JSON.stringify(taskId)} (same prompt as ${JSON.stringify(twin)})`];
  });
  if (leaks.length === 0) return;
  const more = leaks.length > mostLeaksShown ? ', …' : '';
  throw new AgentRlError(
    'DATASET_INVALID',
    `${leaks.length} of ${held.length} held-out tasks are also training tasks: ${leaks.slice(0, mostLeaksShown).join(', ')}${more}. Remove these tasks from one of the two splits.`,
  );
}

const mostLeaksShown = 5;

/** Warns that a setting wants more tasks than there are. */
export function warnIfFewer(
  setting: string,
  wanted: number | undefined,
  there: number,
  warn: (text: string) => void,
): void {
  if (wanted === undefined || wanted <= there) return;
  warn(`${setting} is ${wanted}, but there are only ${there} tasks; the run uses all of them.`);
}

/** Plans the tasks of one set, or of several in the ratio of their weights. */
export function planOf(sets: readonly TaskSet[], options: TaskPlanOptions): TaskPlan {
  const drawn = sets.map(({ tasks, endless, weight }) => ({ weight, tasks: endless ?? tasks }));
  const [only] = drawn;
  return only !== undefined && drawn.length === 1
    ? planOfOne(only.tasks, options)
    : new MixedPlan(drawn, options);
}

/** What a task is reported under: its `metadata.slice`, which is left out of the totals, or its set where several are mixed. */
export function reportGroups({ metadata }: Task): readonly string[] {
  const { slice, set } = metadata;
  return [slice ?? set].filter((name) => typeof name === 'string');
}
