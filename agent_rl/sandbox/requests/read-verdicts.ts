import { isRecord } from '../../core/is-record.ts';
import type { AssertVerdict } from '../../core/services/sandbox.ts';

/**
 * The verdicts on `count` statements: one for each line in their order, or the same problem for all where the tests could
 * not begin. `undefined` when the text is not what our own harness writes.
 *
 * The tests' interpreter is not the program's, yet it works on what the program sends, so nothing is taken for granted.
 */
export function readVerdicts(lines: readonly string[], count: number): AssertVerdict[] | undefined {
  try {
    const written: unknown[] = lines.map((line) => JSON.parse(line));
    if (written.length === 1 && isProblem(written[0])) {
      const { problem } = written[0];
      return Array.from({ length: count }, () => ({ passed: false, problem }));
    }
    const verdicts = written.map(verdictAt);
    const all = verdicts.every((verdict) => verdict !== undefined);
    return all && verdicts.length <= count ? verdicts : undefined;
  } catch {
    // Not JSON: the answer is that it cannot be read.
    return undefined;
  }
}

function isProblem(written: unknown): written is { problem: string } {
  if (!isRecord(written)) return false;
  const { problem, ...others } = written;
  return typeof problem === 'string' && Object.keys(others).length === 0;
}

function verdictAt(written: unknown, place: number): AssertVerdict | undefined {
  if (!isRecord(written)) return undefined;
  const { index, passed, problem } = written;
  if (index !== place) return undefined;
  if (passed === true && problem === undefined) return { passed };
  return passed === false && typeof problem === 'string' ? { passed, problem } : undefined;
}
