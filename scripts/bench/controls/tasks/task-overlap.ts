import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Task } from '../../../../agent_rl/core/tasks/task.ts';
import { reportGroups } from '../../../../dataset/tasks/task-sets.ts';
import { comparable, type Comparable, type Overlap, overlap } from './overlap.ts';
import { prepareSeed, type SeedOptions } from '../seed.ts';
import { runTasks } from './run-tasks.ts';

/** The overlap of each slice of the evaluation; the headline is `headline`. */
export type OverlapBySlice = Readonly<Record<string, Overlap>>;

export interface TaskOverlap {
  training: OverlapBySlice;
  /** With the conversations that the starter was made with; `null` where they are not on this machine. */
  warmUp: OverlapBySlice | null;
}

const sliceOf = (task: Task): string => reportGroups(task)[0] ?? 'headline';

const bySlice = (tasks: readonly Task[], seen: readonly Comparable[]): OverlapBySlice => {
  const names = [...new Set(tasks.map(sliceOf))];
  return Object.fromEntries(
    names.map((name) => {
      const held = tasks.filter((task) => sliceOf(task) === name).map(comparable);
      return [name, overlap(held, seen)];
    }),
  );
};

/** What the evaluation has in common with training and, of what conversations say, with the warm-up. */
export async function taskOverlap(options: SeedOptions): Promise<TaskOverlap> {
  const { trained, evaluation } = await runTasks(options);
  const conversations = await warmUpPrompts(options);
  return {
    training: bySlice(evaluation, trained.map(comparable)),
    warmUp: conversations && bySlice(evaluation, conversations),
  };
}

/** The questions of the conversations that the warm-up's run file names. */
async function warmUpPrompts({ sftConfig, seed, print }: SeedOptions) {
  const { dataset, datasets } = (await prepareSeed(sftConfig, { seed }, {})).loaded.config;
  const files = datasets.flatMap(({ dir }) =>
    dir === undefined ? [] : path.join(dir, `${dataset.trainSplit}.jsonl`),
  );
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) {
    print(`${missing} does not exist, so overlap with the warm-up is not counted`);
    return null;
  }
  return files
    .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as { messages: { role: string; content: string }[] })
    .flatMap(({ messages }) => messages.find(({ role }) => role === 'user') ?? [])
    .map(({ content }): Comparable => ({ prompt: content }));
}
