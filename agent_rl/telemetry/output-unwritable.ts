import { AgentRlError, messageOf, nodeCodeOf } from '../core/errors.ts';

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free space, then continue with --resume.',
  EDQUOT: 'Your quota is used up: free space, then continue with --resume.',
  EACCES: 'Permission is denied: choose another folder (of runs: --output).',
  EPERM: 'Permission is denied: choose another folder (of runs: --output).',
  EROFS: 'The file system is read-only: choose another folder (of runs: --output).',
  ENOTDIR: 'Part of the path is a file: choose another folder (of runs: --output).',
  ENOENT: 'The folder is gone: was it deleted while the run was going?',
};

/** The error for output that cannot be written, with the remedy for its cause. */
export function outputUnwritable(path: string, cause: unknown): AgentRlError {
  const remedy = remedies[nodeCodeOf(cause)] ?? 'Choose another folder (of runs: --output).';
  return new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `Cannot write ${path}: ${messageOf(cause)}. ${remedy}`,
    { cause },
  );
}

/** The result of an action that writes to a path. @throws AgentRlError `OUTPUT_UNWRITABLE` for whatever it throws */
export function writing<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    throw outputUnwritable(path, cause);
  }
}

/** As `writing`, for an action that makes something; false when it is there already. */
export const madeNew = (path: string, make: () => unknown): boolean =>
  writing(path, () => {
    try {
      make();
      return true;
    } catch (cause) {
      if (nodeCodeOf(cause) === 'EEXIST') return false;
      throw cause;
    }
  });
