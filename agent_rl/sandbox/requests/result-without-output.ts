import type { RunResult } from '../../core/services/sandbox.ts';

/** The result of a program that was not run, or of which nothing is known. */
export const resultWithoutOutput = <Status extends RunResult['status']>(
  status: Status,
  message: string,
  level: string,
) => ({
  status,
  message,
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  truncated: false,
  wallMs: 0,
  level,
});
