import {
  type Sandbox,
  keptOutputBytes,
  type RunResult,
  type CallsResult,
} from '../../core/services/sandbox.ts';
import { unreachable } from '../../core/unreachable.ts';
import {
  type CaseResult,
  type CaseStatus,
  type JudgeCodeRequest,
  labelled,
  ofUnreached,
  passed,
  shorten,
  skipped,
  shownJson,
} from './case-result.ts';
import { judgeAsserts } from './judge-asserts.ts';
import type { StdinCase, CallsCase } from '../../core/tasks/code-task.ts';
import { compareOutputs } from './compare-outputs.ts';
import { compareValues } from './compare-values.ts';

export interface Judgement {
  /** `sandbox_error`: the sandbox failed, and the counts say nothing about the program. */
  status: 'judged' | 'sandbox_error';
  passed: number;
  total: number;
  /** One per case judged. */
  statuses: readonly CaseStatus[];
  /** What went wrong, for the log. Holds what was expected: never to be shown to the policy. */
  failures: readonly string[];
  /** The sandbox's message, for `sandbox_error`. */
  problem?: string | undefined;
  /** Backend and level that ran the program. */
  level: string;
}

/**
 * Judges a program by its hidden cases, outside the process that runs it: what is expected never enters the
 * sandbox, so nothing the program prints, returns or does to its interpreter can make a wrong answer right.
 *
 * @throws NotAPythonValue for an expected value that is not a Python value.
 */
export async function judgeCode(
  sandbox: Sandbox,
  request: JudgeCodeRequest,
  signal?: AbortSignal,
): Promise<Judgement> {
  const results = await resultsOf(sandbox, request, signal);
  const statuses = results.map(({ status }) => status);
  const problem = results.find((result) => result.problem !== undefined)?.problem;
  return {
    status: statuses.includes('sandbox_error') ? 'sandbox_error' : 'judged',
    passed: statuses.filter((status) => status === 'passed').length,
    total: statuses.length,
    statuses,
    failures: results.flatMap(({ failure }) => failure ?? []),
    problem,
    level: sandbox.capabilities().level,
  };
}

const judgedCases = <Case extends { public?: boolean }>(
  cases: readonly Case[],
  includePublic = false,
): readonly Case[] => cases.filter((given) => includePublic || given.public !== true);

function resultsOf(
  sandbox: Sandbox,
  request: JudgeCodeRequest,
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const { tests, includePublic } = request;
  switch (tests.kind) {
    case 'stdin':
      return judgeRuns(sandbox, request, judgedCases(tests.cases, includePublic), signal);
    case 'calls': {
      const cases = judgedCases(tests.cases, includePublic);
      return judgeCalls(sandbox, { ...request, entry: tests.entry, cases }, signal);
    }
    case 'asserts':
      return judgeAsserts(sandbox, { ...request, tests }, signal);
    default:
      return unreachable(tests);
  }
}

/** Runs the program once per case and compares what it prints. */
async function judgeRuns(
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

/** After one case timed out the rest are not tried: they could not make the task pass, and might time out as well. */
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

/** Why stdout is incomplete. `truncated` alone does not tell: it includes stderr, which no case is about. */
function cutProblem({ truncated, stdout, stdoutBytes }: RunResult): string | undefined {
  // Bytes that are not UTF-8 are longer as text than they were, so the text alone can hide a cut.
  const kept = Math.min(keptOutputBytes, Buffer.byteLength(stdout));
  if (!truncated || stdoutBytes <= kept) return undefined;
  return `printed ${stdoutBytes} bytes, of which only the first ${kept} are kept`;
}

interface JudgeCallsRequest extends JudgeCodeRequest {
  entry: string;
  cases: readonly CallsCase[];
}

/** Makes all calls in one run and compares what they return. */
async function judgeCalls(
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
