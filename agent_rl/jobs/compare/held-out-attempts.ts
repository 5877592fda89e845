import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { isRecord } from '../../core/is-record.ts';
import type { Message } from '../../core/message.ts';
import { episodesOf, isSolved } from '../../core/trajectory.ts';
import { readTrainerState } from '../../runs/checkpoints.ts';
import { type EpisodeRecord, readEpisodes } from '../../runs/episodes/read-episodes.ts';
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

/** The evaluations of a run but for those of selection tasks, in the order they were made. */
export async function heldOutEvaluations(
  folder: Pick<RunFolder, 'trajectories'>,
): Promise<HeldOutEvaluation[]> {
  const evaluations = new Map<string, EpisodeRecord[]>();
  for await (const record of readEpisodes(folder, 'eval')) {
    const { when = '', iteration } = record;
    if (when === 'selection') continue;
    const key = `${when} ${iteration}`;
    const own = evaluations.get(key);
    if (own === undefined) evaluations.set(key, [slim(record)]);
    else own.push(slim(record));
  }
  return [...evaluations.values()].map((records) => ({
    when: records[0]?.when ?? '',
    iteration: records[0]?.iteration ?? 0,
    tasks: byTask(records),
  }));
}

/** Without what makes it long: thousands are held. */
const slim = (record: EpisodeRecord): EpisodeRecord => {
  const { messages } = record;
  const answered = messages.findIndex(({ role }) => role === 'assistant');
  return {
    ...record,
    messages: answered < 0 ? messages : messages.slice(0, answered),
    tokens: [],
    logProbs: [],
    toolCalls: [],
  };
};

function byTask(records: readonly EpisodeRecord[]): ReadonlyMap<string, HeldOutTask> {
  const tasks = new Map<string, HeldOutTask>();
  for (const episode of episodesOf(records)) {
    const { taskId = '', messages = [] } = episode[0] ?? {};
    const judged = episode.every(({ reward }) => reward !== null);
    const before = tasks.get(taskId);
    const { n, successes, failed } = before?.attempts ?? { n: 0, successes: 0, failed: 0 };
    tasks.set(taskId, {
      prompt: before?.prompt ?? promptOf(messages),
      attempts: {
        taskId,
        n: n + Number(judged),
        successes: successes + Number(judged && isSolved(episode)),
        failed: failed + Number(!judged),
      },
    });
  }
  return tasks;
}

const promptOf = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map(({ role, content }) => [role, content]));

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
