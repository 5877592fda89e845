import { isRecord } from '../../core/is-record.ts';
import { pythonValueProblem } from '../../core/python/python-value.ts';
import type { CallResult, CallsResult, RunResult } from '../../core/services/sandbox.ts';

/** The bounds that `harness/values.py` puts on the text of a value: its characters and the pieces it is made of. */
export const valueBounds = { chars: 4 * 1024 * 1024, pieces: 400_000 } as const;

/** Characters of a result beside its value, and pieces likewise; what a problem says is shorter than a value may be. */
const aroundValue = { chars: 64, pieces: 4 } as const;

/** A run with what its calls returned, at most `most` of them; `text` is the harness's, or what the program made of it. */
export function withCallResults(run: RunResult, text: string, most: number): CallsResult {
  const results = readCallResults(text);
  if (results !== undefined && results.length <= most) return { ...run, results };
  const message = 'the program tampered with its results';
  return { ...run, status: 'crashed', message, results: [] };
}

/**
 * What the calls of a program returned, or `undefined` when it is not what our own harness writes: the harness runs in
 * the program's interpreter, where the program can reach it, so nothing about this text is certain.
 */
export function readCallResults(text: string): CallResult[] | undefined {
  if (!text.startsWith('[') || !holdsSmallResults(text)) return undefined;
  try {
    const results: unknown = JSON.parse(text);
    return Array.isArray(results) && results.every(isCallResult) ? results : undefined;
  } catch (error) {
    // Text that is not JSON, or that is nested too deeply to be followed: the answer is that it cannot be read.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Whether no result of a list is larger than the harness lets it be. Reads the text alone, since it is the parsing of a
 * forged one that would hold up everything else. In the harness's text neither brackets that open nor commas are more
 * than the pieces.
 */
function holdsSmallResults(text: string): boolean {
  const most = valueBounds.pieces + aroundValue.pieces;
  let [depth, opened, commas, start] = [0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '[' || character === '{') [depth, opened] = [depth + 1, opened + 1];
    else if (character === ']' || character === '}') depth--;
    else if (character === ',' && depth === 1) [opened, commas, start] = [0, 0, i];
    else if (character === ',') commas++;
    if (opened > most || commas > most) return false;
    if (i - start > valueBounds.chars + aroundValue.chars) return false;
  }
  return true;
}

/** The place of the quote that ends the string which begins there. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}

function isCallResult(value: unknown): value is CallResult {
  if (!isRecord(value)) return false;
  const { ok, value: returned, problem } = value;
  if (ok === false) return typeof problem === 'string';
  return ok === true && pythonValueProblem(returned) === undefined;
}
