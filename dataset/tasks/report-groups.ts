import type { Task } from '../../agent_rl/core/tasks/task.ts';

/** What a task is reported under: its `metadata.apart`, which is in no total, or its set where several are mixed. */
export function reportGroups({ metadata }: Task): readonly string[] {
  const { apart, set } = metadata;
  return [apart ?? set].filter((name) => typeof name === 'string');
}
