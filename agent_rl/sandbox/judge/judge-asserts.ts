import type { AssertsTests } from '../../core/tasks/code-task.ts';
import type { AssertTests, JudgeResult, Sandbox } from '../../core/services/sandbox.ts';
import { labelled, ofUnreached, passed, shorten } from './case-result.ts';
import type { CaseResult, JudgeCodeRequest } from './case-result.ts';
import { append } from '../../core/long-lists.ts';

/**
 * Runs the statements in a second sandbox, all in one run; public ones, if they count, in a run of their own, so that
 * hidden ones never depend on what those did.
 */
export async function judgeAsserts(
  sandbox: Sandbox,
  request: JudgeCodeRequest & { tests: AssertsTests },
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const { tests, includePublic = false, ...rest } = request;
  const { code, public: shown = [] } = tests;
  const results: CaseResult[] = [];
  for (const statements of includePublic ? [shown, code] : [code]) {
    if (statements.length === 0) continue;
    const asked = { ...rest, tests: assertTestsOf(tests, statements) };
    append(results, await judgeStatements(sandbox, asked, signal));
  }
  return results;
}

/** Some statements of a task, as the sandbox takes them. */
export const assertTestsOf = (
  { kind: _kind, code: _code, public: _public, ...tests }: AssertsTests,
  statements: readonly string[],
): AssertTests => ({ ...tests, statements });

async function judgeStatements(
  sandbox: Sandbox,
  { code, tests, limits = {}, seed = 0 }: Omit<JudgeCodeRequest, 'tests'> & { tests: AssertTests },
  signal?: AbortSignal,
): Promise<readonly CaseResult[]> {
  const run = await sandbox.execute({ kind: 'judge', code, tests, limits, seed }, signal);
  return tests.statements.map((statement, i) => labelled(shorten(statement), judged(run, i)));
}

/** What `harness/asserts.py` says of a statement whose program is gone. */
const endedEarly = 'SolutionEnded: the solution ended early';

function judged(run: JudgeResult, place: number): CaseResult {
  const verdict = run.verdicts[place];
  const isUnreached = verdict === undefined || verdict.problem === endedEarly;
  if (isUnreached || run.status === 'sandbox_error') {
    return ofUnreached(run);
  }
  if (verdict.passed) return passed;
  const problem = verdict.problem ?? '';
  const isWrong = problem.startsWith('AssertionError');
  return { status: isWrong ? 'wrong-answer' : 'error', failure: shorten(problem) };
}
