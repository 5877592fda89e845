import type { RunResult, SandboxLimits, SandboxStatus } from '../../core/services/sandbox.ts';
import type { CodeTask } from '../../core/tasks/code-task.ts';
import { lastLine } from '../last-line.ts';

export interface JudgeCodeRequest extends Pick<CodeTask, 'tests' | 'compare'> {
  code: string;
  /** Of one run: a case on standard input, all calls of a function together, or all statements together. */
  limits?: SandboxLimits;
  seed?: number;
  /** Whether public cases count too. Default false: only hidden ones decide. */
  includePublic?: boolean;
  /** The runs after one that fails are skipped: enough where only a full pass counts. */
  stopAtFirstFailure?: boolean;
}

/** What became of one case; `skipped` were not tried since an earlier one ran out of time. */
export type CaseStatus = 'passed' | 'wrong-answer' | 'skipped' | Exclude<SandboxStatus, 'ok'>;

export interface CaseResult {
  status: CaseStatus;
  /** Holds what was expected: for the log, never for the policy. */
  failure?: string;
  /** Of `sandbox_error`: what failed, in the sandbox's own words. */
  problem?: string;
}

export const passed: CaseResult = { status: 'passed' };
export const skipped: CaseResult = { status: 'skipped' };

/** The result with what it is about in front of its failure. */
export const labelled = (about: string, result: CaseResult): CaseResult =>
  result.failure === undefined ? result : { ...result, failure: `${about}: ${result.failure}` };

/** Of a case that its run did not reach: why, and, where nothing is known of that, the end of what the program printed. */
export function ofUnreached({ status, message, stderr }: RunResult): CaseResult {
  const why = message ?? lastLine(stderr);
  const problem = status === 'sandbox_error' && message !== undefined ? { problem: message } : {};
  const how =
    status === 'ok' && message === undefined ? 'the program ended before the case' : status;
  return {
    status: status === 'ok' ? 'error' : status,
    failure: `${how}${why && ` ${shorten(why)}`}`,
    ...problem,
  };
}

const mostChars = 200;

const cut = (text: string): string =>
  text.length > mostChars ? `${text.slice(0, mostChars)}…` : text;

/** A text in quotes, cut. */
export const shorten = (text: string): string => cut(JSON.stringify(text.slice(0, mostChars)));

/** A value as JSON in quotes, cut. */
export function shownJson(value: unknown): string {
  try {
    return shorten(JSON.stringify(value));
  } catch (error) {
    // A program may nest its value as deeply as it likes.
    if (error instanceof RangeError) return 'a value that is nested too deeply to be shown';
    throw error;
  }
}
