import type { Task } from '../core/task.ts';

/** Families held out entirely are reported apart from new tasks of trained families. */
export function reportGroups({ metadata }: Task): readonly string[] {
  if (typeof metadata['heldOutFamily'] !== 'boolean') return [];
  return [metadata['heldOutFamily'] ? 'families never trained on' : 'trained families, new tasks'];
}
