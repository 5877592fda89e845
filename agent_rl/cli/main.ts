import { AgentRlError, messageOf, nextStepOf } from '../core/errors.ts';
import { strayFailureOf } from '../core/stopping/stray-failure.ts';
import { redactor } from '../telemetry/redact.ts';
import type { MainOptions } from './command.ts';
import { errorText, exitCodeOf, interrupted, runFailed, usersMistake } from './exit-code.ts';
import { writeError, writeJson } from './io.ts';
import { parseAndRun, UsageError } from './parse-and-run.ts';

/** Reads a command line, runs its command and returns the exit code: 0, 1, 2 or 130. */
export async function main(args: readonly string[], options: MainOptions): Promise<number> {
  const { io } = options;
  try {
    const code = await parseAndRun([...args], options);
    return codeOfStop(io.signal) ?? code;
  } catch (error) {
    if (error instanceof UsageError) {
      writeError(io, error.message);
      return usersMistake;
    }
    // A stray failure was reported when it happened.
    if (error !== strayFailureOf(io.signal)) writeError(io, errorText(error));
    const next = nextStepOf(error);
    if (next !== undefined) writeError(io, next);
    if (args.includes('--json')) {
      const code = AgentRlError.is(error) ? error.code : 'UNEXPECTED';
      const message = redactor()(messageOf(error));
      writeJson(io, { error: { code, message, next } });
    }
    return codeOfStop(io.signal) ?? exitCodeOf(error);
  }
}

/** The exit code after a job that was stopped, however it ended. */
function codeOfStop(signal: AbortSignal): number | undefined {
  if (!signal.aborted) return undefined;
  return strayFailureOf(signal) === undefined ? interrupted : runFailed;
}
