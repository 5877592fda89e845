/**
 * SHA-256 of shipped task files as version 0.1 had them, and of the same tasks now: `metadata.apart` became
 * `metadata.slice`, and nothing else changed.
 */
const renamed: Readonly<Record<string, string>> = {
  // dataset/code_tasks/eval.jsonl
  f81ac1d4d647a22196a2468eb4f1d4b047f3ff048942fc4912337465b27e1159:
    'a423e228c19047ad969932779dbf2e0a938edf3d8737e6de702ea429c51c1214',
};

/** Whether a file of tasks, by its SHA-256, holds the tasks that another held: the same bytes, or fields renamed. */
export const sameTasks = (before: string, now: string): boolean =>
  before === now || (Object.hasOwn(renamed, before) && renamed[before] === now);
