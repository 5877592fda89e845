import type { RequestKind, RunResult, SandboxResults } from '../../core/services/sandbox.ts';

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

const completed: { [Kind in RequestKind]: (run: RunResult) => SandboxResults[Kind] } = {
  run: (run) => run,
  calls: (run) => ({ ...run, results: [] }),
  judge: (run) => ({ ...run, verdicts: [] }),
};

/** The result of a request of some kind of which there is nothing but the run: no results, no verdicts. */
export const bareResult = <Kind extends RequestKind>(
  kind: Kind,
  run: RunResult,
): SandboxResults[Kind] => completed[kind](run);
