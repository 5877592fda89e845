import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { isRecord } from '../../core/is-record.ts';
import type { Message } from '../../core/message.ts';
import { isSolved } from '../../core/rollout.ts';
import { readTrainerState } from '../../runs/checkpoints.ts';
import type { EpisodeRecord } from '../../runs/episodes/read-episodes.ts';
import { batchesOf, rolloutsIn } from '../../runs/query/parts.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import type { TaskAttempts } from '../../trainer/success-rate.ts';

/** The attempts of one evaluation, by task, in their order. */
export interface HeldOutEvaluation {
  when: string;
  iteration: number;
  tasks: ReadonlyMap<string, HeldOutTask>;
}

/** A task is the same as another where it is called the same and begins with the same messages. */
export interface HeldOutTask {
  prompt: string;
  attempts: Pick<TaskAttempts, 'taskId' | 'n' | 'successes' | 'failed'>;
}

/** Which groups tasks are reported in; of a run that kept it. */
export type TaskGroups = ReadonlyMap<string, Pick<TaskAttempts, 'groups' | 'ofSlice' | 'family'>>;

/** The evaluations of a run on its held-out tasks as they are, in the order they were made. */
export async function heldOutEvaluations(
  folder: Pick<RunFolder, 'journal'>,
): Promise<HeldOutEvaluation[]> {
  const evaluations: HeldOutEvaluation[] = [];
  for await (const parts of batchesOf(folder, { file: 'eval' })) {
    const episodes = parts.map(({ episode }) => episode);
    const [{ when, iteration } = { when: 'eval', iteration: 0 }] = episodes;
    if (when !== 'selection' && when !== 'hinted')
      evaluations.push({ when, iteration, tasks: byTask(episodes) });
  }
  return evaluations;
}

function byTask(episodes: readonly EpisodeRecord[]): ReadonlyMap<string, HeldOutTask> {
  const tasks = new Map<string, HeldOutTask>();
  for (const parts of rolloutsIn(episodes)) {
    const { taskId = '', messages = [] } = parts[0] ?? {};
    const judged = parts.every(({ reward }) => reward !== null);
    const before = tasks.get(taskId);
    const { n, successes, failed } = before?.attempts ?? { n: 0, successes: 0, failed: 0 };
    tasks.set(taskId, {
      prompt: before?.prompt ?? promptOf(messages),
      attempts: {
        taskId,
        n: n + Number(judged),
        successes: successes + Number(judged && isSolved({ parts })),
        failed: failed + Number(!judged),
      },
    });
  }
  return tasks;
}

/** What was said before the first turn. */
function promptOf(messages: readonly Message[]): string {
  const answered = messages.findIndex(({ role }) => role === 'assistant');
  const first = answered < 0 ? messages : messages.slice(0, answered);
  return JSON.stringify(first.map(({ role, content }) => [role, content]));
}

/** Slices and families of a run's held-out tasks, where a checkpoint has an evaluation before training. */
export function taskGroups({ checkpoints }: Pick<RunFolder, 'checkpoints'>): TaskGroups {
  const names = existsSync(checkpoints) ? readdirSync(checkpoints) : [];
  const found = names.find((name) => existsSync(join(checkpoints, name, 'trainer-state.json')));
  const state = found === undefined ? {} : readTrainerState(join(checkpoints, found));
  const before = isRecord(state) ? state['before'] : undefined;
  const perTask = isRecord(before) ? before['perTask'] : undefined;
  const tasks = Array.isArray(perTask) ? (perTask as readonly TaskAttempts[]) : [];
  return new Map(tasks.map((task) => [task.taskId, task]));
}

/** Attempts with the slices and the family of their task. */
export const withGroups = (own: HeldOutTask['attempts'], groups: TaskGroups): TaskAttempts => {
  const { groups: names = [], ofSlice = false, family } = groups.get(own.taskId) ?? {};
  return { groups: names, ofSlice, ...own, ...(family !== undefined && { family }) };
};
