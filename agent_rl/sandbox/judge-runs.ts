import type { StdinCase } from '../core/code-task.ts';
import type { Sandbox } from '../core/sandbox.ts';
import { labelled, ofUnreached, passed, shorten, skipped } from './case-result.ts';
import type { CaseResult, CaseStatus } from './case-result.ts';
import { compareOutputs } from './compare-outputs.ts';
import type { JudgeCodeRequest } from './judge-code-request.ts';

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
  const run = await sandbox.run({ code, stdin: given.input, limits, seed }, signal);
  const about = `input ${shorten(given.input)}`;
  if (run.status !== 'ok') return labelled(about, ofUnreached(run));
  if (!run.truncated && compareOutputs(run.stdout, given.output, compare)) return passed;
  return {
    status: 'wrong-answer',
    failure: `${about}: printed ${shorten(run.stdout)}, expected ${shorten(given.output)}`,
  };
}
