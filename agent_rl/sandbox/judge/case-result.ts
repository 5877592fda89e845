import type { RunResult, SandboxLimits, SandboxStatus } from '../../core/services/sandbox.ts';
import type { CodeTask } from '../../core/tasks/code-task.ts';
import { lastLine } from '../last-line.ts';

export interface JudgeCodeRequest extends Pick<CodeTask, 'tests' | 'compare'> {
  code: string;
  /** Limits of one run: one case on standard input, all calls together, or all statements together. */
  limits?: SandboxLimits;
  seed?: number;
  /** Whether public cases count too. Default false: only hidden ones decide. */
  includePublic?: boolean;
  /** The runs after one that fails are skipped: enough where only a full pass counts. */
  stopAtFirstFailure?: boolean;
}

/** The status of one case; `skipped` cases were not tried, because an earlier case timed out. */
export type CaseStatus = 'passed' | 'wrong-answer' | 'skipped' | Exclude<SandboxStatus, 'ok'>;

export interface CaseResult {
  status: CaseStatus;
  /** Holds what was expected: for the log, never for the policy. */
  failure?: string;
  /** The sandbox's message, for `sandbox_error`. */
  problem?: string;
}

export const passed: CaseResult = { status: 'passed' };
export const skipped: CaseResult = { status: 'skipped' };

/** The result with its case in front of its failure. */
export const labelled = (about: string, result: CaseResult): CaseResult =>
  result.failure === undefined ? result : { ...result, failure: `${about}: ${result.failure}` };

/** The result of a case that the run did not reach: why, or else the last line that the program printed. */
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
