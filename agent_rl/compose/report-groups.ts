import type { Task } from '../core/task.ts';

/** What a task is reported under apart from the total, by its `metadata.apart`. */
export function reportGroups({ metadata }: Task): readonly string[] {
  const { apart } = metadata;
  return typeof apart === 'string' ? [apart] : [];
}
