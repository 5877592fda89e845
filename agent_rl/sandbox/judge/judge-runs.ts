import type { StdinCase } from '../../core/tasks/code-task.ts';
import { keptOutputBytes, type RunResult, type Sandbox } from '../../core/services/sandbox.ts';
import { labelled, ofUnreached, passed, shorten, skipped } from './case-result.ts';
import type { CaseResult, CaseStatus, JudgeCodeRequest } from './case-result.ts';
import { compareOutputs } from './compare-outputs.ts';

/** Runs the program once per case and compares what it prints. */
export async function judgeRuns(
  sandbox: Sandbox,
  request: JudgeCodeRequest,
  cases: readonly StdinCase[],
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const given of cases) {
    const ended = endsJudging(results.at(-1)?.status, request.stopAtFirstFailure ?? false);
    if (ended) results.push(skipped);
    else results.push(await judgeRun(sandbox, request, given, signal));
  }
  return results;
}

/** After one case ran out of time the rest are not tried: they would cost as much again and not pass the task. */
const endsJudging = (last: CaseStatus | undefined, stopAtFirstFailure: boolean): boolean =>
  last === 'timeout' ||
  last === 'sandbox_error' ||
  last === 'skipped' ||
  (stopAtFirstFailure && last !== undefined && last !== 'passed');

async function judgeRun(
  sandbox: Sandbox,
  { code, limits = {}, seed = 0, compare }: JudgeCodeRequest,
  given: StdinCase,
  signal?: AbortSignal,
): Promise<CaseResult> {
  const run = await sandbox.execute(
    { kind: 'run', code, stdin: given.input, limits, seed },
    signal,
  );
  const about = `input ${shorten(given.input)}`;
  if (run.status !== 'ok') return labelled(about, ofUnreached(run));
  const cut = cutProblem(run);
  if (cut === undefined && compareOutputs(run.stdout, given.output, compare)) return passed;
  const printed = cut ?? `printed ${shorten(run.stdout)}`;
  return {
    status: 'wrong-answer',
    failure: `${about}: ${printed}, expected ${shorten(given.output)}`,
  };
}

/** Why what was kept of stdout is not all of it. `truncated` speaks of stderr too, which no case is about. */
function cutProblem({ truncated, stdout, stdoutBytes }: RunResult): string | undefined {
  // Bytes that are not UTF-8 are longer as text than they were, so the text alone can hide a cut.
  const kept = Math.min(keptOutputBytes, Buffer.byteLength(stdout));
  if (!truncated || stdoutBytes <= kept) return undefined;
  return `printed ${stdoutBytes} bytes, of which only the first ${kept} are kept`;
}
