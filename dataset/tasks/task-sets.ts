import { basename } from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { MixedPlan } from './plan/mixed-plan.ts';
import { EpochPlan, type TaskPlan, type TaskPlanOptions } from './plan/task-plan.ts';
import { otherSplitFiles, readTaskFile, splitFile } from './task-files.ts';

/** Tasks of one folder, and how often they are drawn. */
export interface TaskSet {
  tasks: readonly Task[];
  weight: number;
}

/** A folder of tasks, how it is read, and how often its tasks are drawn. */
export interface TaskFolder extends TableReading {
  dir: string;
  weight: number;
  format: string;
}

/**
 * A split of each folder of tasks. Where there are several, each task's `metadata.set` names its folder, under which it
 * is reported.
 *
 * @throws AgentRlError as `readTaskFile` does, and `DATASET_INVALID` when two sets have a task of one id.
 */
export async function readTaskSets(
  folders: readonly TaskFolder[],
  { split, warn }: { split: string; warn: (text: string) => void },
): Promise<readonly TaskSet[]> {
  const sets: TaskSet[] = [];
  for (const { dir, weight, format, ...reading } of folders) {
    const { tasks: read, warnings } = await readTaskFile(splitFile(dir, split), format, reading);
    [...otherSplitFiles(dir, split), ...warnings].forEach(warn);
    const set = basename(dir);
    const tasks = folders.length === 1 ? read : read.map((task) => ofSet(task, set));
    sets.push({ tasks, weight });
  }
  rejectDuplicateIds(sets, split);
  return sets;
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
        `Two sets of tasks have one of id ${JSON.stringify(taskId)} in split ${split}. Ids must differ.`,
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
    if (ids.has(taskId)) return [`${JSON.stringify(taskId)} by its id`];
    const twin = byPrompt.get(prompt.trim());
    return twin === undefined
      ? []
      : [`${JSON.stringify(taskId)} by the prompt of ${JSON.stringify(twin)}`];
  });
  if (leaks.length === 0) return;
  const more = leaks.length > mostLeaksShown ? ', …' : '';
  throw new AgentRlError(
    'DATASET_INVALID',
    `${leaks.length} of ${held.length} held-out tasks are also trained on: ${leaks.slice(0, mostLeaksShown).join(', ')}${more}. Take them out of one split.`,
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
  warn(`${setting} is ${wanted} and there are ${there} tasks: all are taken.`);
}

/** Plans the tasks of one set, or of several in the ratio of their weights. */
export function planOf(sets: readonly TaskSet[], options: TaskPlanOptions): TaskPlan {
  const [only] = sets;
  return only !== undefined && sets.length === 1
    ? new EpochPlan(only.tasks, options)
    : new MixedPlan(sets, options);
}

/** What a task is reported under: its `metadata.slice`, which is left out of the totals, or its set where several are mixed. */
export function reportGroups({ metadata }: Task): readonly string[] {
  const { slice, set } = metadata;
  return [slice ?? set].filter((name) => typeof name === 'string');
}
