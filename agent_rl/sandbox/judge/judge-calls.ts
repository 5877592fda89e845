import type { CallsCase } from '../../core/tasks/code-task.ts';
import type { CallsResult, Sandbox } from '../../core/services/sandbox.ts';
import { labelled, ofUnreached, passed, shorten, shownJson } from './case-result.ts';
import type { CaseResult, JudgeCodeRequest } from './case-result.ts';
import { compareValues } from './compare-values.ts';

export interface JudgeCallsRequest extends JudgeCodeRequest {
  entry: string;
  cases: readonly CallsCase[];
}

/** Makes all calls in one run and compares what they return. */
export async function judgeCalls(
  sandbox: Sandbox,
  request: JudgeCallsRequest,
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const { code, entry, cases, limits = {}, seed = 0 } = request;
  const args = cases.map((given) => given.args);
  const run = await sandbox.execute({ kind: 'calls', code, entry, args, limits, seed }, signal);
  return cases.map((given, i) =>
    labelled(`${entry}(${shownJson(given.args)})`, judged(run, i, { ...request, given })),
  );
}

function judged(
  run: CallsResult,
  place: number,
  { given, compare }: { given: CallsCase } & Pick<JudgeCallsRequest, 'compare'>,
): CaseResult {
  const result = run.results[place];
  if (result === undefined || run.status === 'sandbox_error') {
    return ofUnreached(run);
  }
  if (!result.ok) return { status: 'error', failure: shorten(result.problem) };
  if (compareValues(result.value, given.expected, compare)) return passed;
  const failure = `returned ${shownJson(result.value)}, expected ${shownJson(given.expected)}`;
  return { status: 'wrong-answer', failure };
}
