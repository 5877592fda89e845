import type { CallsCase, CodeTask, StdinCase } from '../core/code-task.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Sandbox, SandboxLimits, SandboxStatus } from '../core/sandbox.ts';
import { compareOutputs, compareValues } from './compare.ts';
import { unreachable } from '../core/unreachable.ts';

/** What became of one case; `skipped` were not tried since an earlier one ran out of time. */
export type CaseStatus = 'passed' | 'wrong-answer' | 'skipped' | Exclude<SandboxStatus, 'ok'>;

export interface JudgeRequest extends Pick<CodeTask, 'tests' | 'compare'> {
  readonly code: string;
  /** Of one run: a case on standard input, or all calls of a function together. */
  readonly limits?: SandboxLimits;
  readonly seed?: number;
  /** Whether public cases count too. Default false: only hidden ones decide. */
  readonly includePublic?: boolean;
  /** The cases after one that fails are skipped: enough where only a full pass counts. */
  readonly stopAtFirstFailure?: boolean;
}

export interface Judgement {
  /** `sandbox_error`: we failed, and the counts say nothing about the program. */
  readonly status: 'judged' | 'sandbox_error';
  readonly passed: number;
  readonly total: number;
  /** One per case judged. */
  readonly statuses: readonly CaseStatus[];
  /** What went wrong, for the log. Holds what was expected: never to be shown to the policy. */
  readonly failures: readonly string[];
  /** Backend and level that ran the program. */
  readonly level: string;
}

interface CaseResult {
  readonly status: CaseStatus;
  readonly failure?: string;
}

const passed: CaseResult = { status: 'passed' };
const skipped: CaseResult = { status: 'skipped' };

/**
 * Judges a program by its hidden cases, outside the process that runs it: what is expected never enters the
 * sandbox, so nothing the program prints, returns or does to its interpreter can make a wrong answer right.
 *
 * @throws AgentRlError `DATASET_INVALID` for assert statements, which need a judge that runs them.
 */
export async function judgeCode(
  sandbox: Sandbox,
  request: JudgeRequest,
  signal?: AbortSignal,
): Promise<Judgement> {
  const results = await resultsOf(sandbox, request, signal);
  const statuses = results.map(({ status }) => status);
  return {
    status: statuses.includes('sandbox_error') ? 'sandbox_error' : 'judged',
    passed: statuses.filter((status) => status === 'passed').length,
    total: statuses.length,
    statuses,
    failures: results.flatMap(({ failure }) => failure ?? []),
    level: sandbox.capabilities().level,
  };
}

const judgedCases = <Case extends { readonly public?: boolean }>(
  cases: readonly Case[],
  includePublic = false,
): readonly Case[] => cases.filter((given) => includePublic || given.public !== true);

function resultsOf(
  sandbox: Sandbox,
  request: JudgeRequest,
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
      throw new AgentRlError(
        'DATASET_INVALID',
        'Tests of kind "asserts" need a judge that runs assert statements in a second sandbox, which this version does not have. Give the tests as "stdin" or "calls", or leave the task out.',
      );
    default:
      return unreachable(tests);
  }
}

/** After one case ran out of time the rest are not tried: they would cost as much again and not pass the task. */
const endsJudging = (last: CaseStatus | undefined, stopAtFirstFailure: boolean): boolean =>
  last === 'timeout' ||
  last === 'sandbox_error' ||
  last === 'skipped' ||
  (stopAtFirstFailure && last !== undefined && last !== 'passed');

async function judgeRuns(
  sandbox: Sandbox,
  request: JudgeRequest,
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

async function judgeRun(
  sandbox: Sandbox,
  { code, limits = {}, seed = 0, compare }: JudgeRequest,
  given: StdinCase,
  signal?: AbortSignal,
): Promise<CaseResult> {
  const run = await sandbox.run({ code, stdin: given.input, limits, seed }, signal);
  const about = `input ${shorten(given.input)}`;
  if (run.status !== 'ok') {
    const why = run.message ?? run.stderr.trim().split('\n').at(-1) ?? '';
    return { status: run.status, failure: `${about}: ${run.status} ${shorten(why)}` };
  }
  if (!run.truncated && compareOutputs(run.stdout, given.output, compare)) return passed;
  return {
    status: 'wrong-answer',
    failure: `${about}: printed ${shorten(run.stdout)}, expected ${shorten(given.output)}`,
  };
}

async function judgeCalls(
  sandbox: Sandbox,
  request: JudgeRequest & { readonly entry: string; readonly cases: readonly CallsCase[] },
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const { code, entry, cases, limits = {}, seed = 0, compare } = request;
  const args = cases.map((given) => given.args);
  const run = await sandbox.calls({ code, entry, args, limits, seed }, signal);
  return cases.map((given, i): CaseResult => {
    const about = `${entry}(${shorten(JSON.stringify(given.args))})`;
    const result = run.results[i];
    if (result === undefined) {
      // The run ended before this call returned, even if it ended without a complaint.
      const status = run.status === 'ok' ? 'error' : run.status;
      return { status, failure: `${about}: ${run.status} ${shorten(run.message ?? '')}` };
    }
    if (!result.ok) return { status: 'error', failure: `${about}: ${shorten(result.problem)}` };
    if (compareValues(result.value, given.expected, compare)) return passed;
    const [got, want] = [result.value, given.expected].map((value) =>
      shorten(JSON.stringify(value)),
    );
    return { status: 'wrong-answer', failure: `${about}: returned ${got}, expected ${want}` };
  });
}

const shorten = (text: string): string => {
  const shown = JSON.stringify(text);
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
};
