import type { Sandbox } from '../../core/services/sandbox.ts';
import { unreachable } from '../../core/unreachable.ts';
import type { CaseResult, CaseStatus, JudgeCodeRequest } from './case-result.ts';
import { judgeAsserts } from './judge-asserts.ts';
import { judgeCalls } from './judge-calls.ts';
import { judgeRuns } from './judge-runs.ts';

export interface Judgement {
  /** `sandbox_error`: we failed, and the counts say nothing about the program. */
  status: 'judged' | 'sandbox_error';
  passed: number;
  total: number;
  /** One per case judged. */
  statuses: readonly CaseStatus[];
  /** What went wrong, for the log. Holds what was expected: never to be shown to the policy. */
  failures: readonly string[];
  /** Of `sandbox_error`: what failed, in the sandbox's own words. */
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
