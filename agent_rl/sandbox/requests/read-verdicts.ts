import type { AssertVerdict } from '../../core/services/sandbox.ts';

/**
 * The verdicts on `count` statements: one for each line in their order, or the same problem for all where the tests could
 * not begin. `undefined` when the text is not what our own harness writes.
 *
 * The tests' interpreter is not the program's, yet it works on what the program sends, so nothing is taken for granted.
 */
export function readVerdicts(text: string, count: number): AssertVerdict[] | undefined {
  // What comes after the last line break was cut off.
  const lines = text.split('\n').slice(0, -1);
  try {
    const said: unknown[] = lines.map((line) => JSON.parse(line));
    if (said.length === 1 && isProblem(said[0])) {
      const { problem } = said[0];
      return Array.from({ length: count }, () => ({ passed: false, problem }));
    }
    const verdicts = said.map(verdictAt);
    const all = verdicts.every((verdict) => verdict !== undefined);
    return all && verdicts.length <= count ? verdicts : undefined;
  } catch {
    // Not JSON: the answer is that it cannot be read.
    return undefined;
  }
}

function isProblem(said: unknown): said is { problem: string } {
  if (typeof said !== 'object' || said === null) return false;
  const { problem, ...others } = said as Readonly<Record<string, unknown>>;
  return typeof problem === 'string' && Object.keys(others).length === 0;
}

function verdictAt(said: unknown, place: number): AssertVerdict | undefined {
  if (typeof said !== 'object' || said === null) return undefined;
  const { index, passed, problem } = said as Readonly<Record<string, unknown>>;
  if (index !== place) return undefined;
  if (passed === true && problem === undefined) return { passed };
  return passed === false && typeof problem === 'string' ? { passed, problem } : undefined;
}
