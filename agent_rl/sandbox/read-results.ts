import { pythonValueProblem } from '../core/python-value.ts';
import type { AssertVerdict, CallResult } from '../core/sandbox.ts';

/**
 * What the calls of a program returned, or `undefined` when it is not what our own harness writes: the harness runs in
 * the program's interpreter, where the program can reach it, so nothing about this text is certain.
 */
export function readCallResults(text: string): CallResult[] | undefined {
  const results = parsed(text);
  return Array.isArray(results) && results.every(isCallResult) ? results : undefined;
}

/** The verdicts of tests, in order, or `undefined` when they are not what our own harness writes. */
export function readVerdicts(text: string, statements: number): AssertVerdict[] | undefined {
  const lines = parsed(text);
  if (!Array.isArray(lines)) return undefined;
  const [first] = lines as readonly unknown[];
  if (isObject(first) && typeof first['problem'] === 'string' && !('index' in first)) {
    const problem = first['problem'];
    return Array.from({ length: statements }, () => ({ passed: false, problem }));
  }
  const verdicts = lines.map(verdictAt);
  const whole = verdicts.every((verdict) => verdict !== undefined) && lines.length <= statements;
  return whole ? verdicts : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is no JSON: the answer is that it cannot be read.
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function verdictAt(line: unknown, place: number): AssertVerdict | undefined {
  if (!isObject(line) || line['index'] !== place) return undefined;
  const { passed, problem } = line;
  if (passed === true) return { passed };
  return passed === false && typeof problem === 'string' ? { passed, problem } : undefined;
}

function isCallResult(value: unknown): value is CallResult {
  if (!isObject(value)) return false;
  const { ok, value: returned, problem } = value;
  if (ok === false) return typeof problem === 'string';
  return ok === true && pythonValueProblem(returned) === undefined;
}
