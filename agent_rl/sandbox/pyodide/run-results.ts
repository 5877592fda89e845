import type { RunResult, SandboxLimits } from '../../core/services/sandbox.ts';
import { resultWithoutOutput } from '../requests/result-without-output.ts';
import type { ChildRequest, ChildResult } from './protocol.ts';
import { posixLimits } from './boot/restricted-node.ts';

/** Backend and level, for the record. */
export const level = `pyodide:permission${posixLimits ? '+ulimit' : ''}`;

/** The result of a program that was not run, or of which nothing is known. */
export const failed = (
  status: 'timeout' | 'crashed' | 'sandbox_error',
  message: string,
): RunResult => resultWithoutOutput(status, message, level);

/** What a child says of a run, without what is between the child and us. */
export function runResultOf({
  id: _id,
  results: _results,
  verdicts: _verdicts,
  alive: _alive,
  ...result
}: ChildResult): RunResult {
  return { ...result, level };
}

/** Limits as a child takes them. */
export const childLimits = ({
  wallS,
  memoryMiB,
}: Required<SandboxLimits>): Pick<ChildRequest, 'wallMs' | 'memoryBytes'> => ({
  wallMs: wallS * 1000,
  memoryBytes: Math.floor(memoryMiB) * 2 ** 20,
});
