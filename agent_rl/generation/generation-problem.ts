import { isRecord } from '../core/is-record.ts';
import type { Generation, GenerationRequest } from '../core/services/generator.ts';
import { showValue } from '../core/show-value.ts';

/** The limits that a generation must keep. */
export interface AskedOf extends Pick<GenerationRequest, 'maxTokens' | 'stopTokens'> {
  /** Of the weights that were to draw; any where it is absent. */
  version?: number | undefined;
  /** Tokens that exist: ids from 0 to this, exclusive. */
  vocabSize?: number;
}

const stops = [
  'stop-token',
  'max-tokens',
  'context-full',
  'aborted',
] satisfies Generation['stop'][];

/** The first thing for which what a generator answered is no generation, with what is allowed, or `undefined`. */
export function generationProblem(answer: unknown, asked: AskedOf): string | undefined {
  if (!isRecord(answer)) return `the answer is ${showValue(answer)}; expected an object`;
  return (
    tokenProblem(answer['tokens'], asked) ??
    logProbProblem(answer['logProbs'], (answer['tokens'] as unknown[]).length) ??
    stopProblem(answer, asked) ??
    versionProblem(answer['version'], asked)
  );
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

function tokenProblem(tokens: unknown, { maxTokens, vocabSize }: AskedOf): string | undefined {
  if (!Array.isArray(tokens)) return `tokens is ${showValue(tokens)}; expected a list of token ids`;
  if (tokens.length > maxTokens)
    return `tokens has ${tokens.length} ids; expected at most maxTokens = ${maxTokens}`;
  const exists = (id: unknown): boolean =>
    isCount(id) && (vocabSize === undefined || id < vocabSize);
  const at = tokens.findIndex((id) => !exists(id));
  const least = vocabSize === undefined ? 'of at least 0' : `from 0 to ${vocabSize - 1}`;
  return at < 0
    ? undefined
    : `tokens[${at}] is ${showValue(tokens[at])}; expected a whole number ${least}`;
}

/** Rounding may leave a certain token a little above 0. */
const isLogProb = (value: unknown): boolean => Number.isFinite(value) && Number(value) < 1e-3;

function logProbProblem(logProbs: unknown, tokens: number): string | undefined {
  if (!Array.isArray(logProbs) || logProbs.length !== tokens) {
    const got = Array.isArray(logProbs) ? `has ${logProbs.length}` : `is ${showValue(logProbs)}`;
    return `logProbs ${got}; expected a list of ${tokens}, one for each token`;
  }
  const at = logProbs.findIndex((value) => !isLogProb(value));
  return at < 0
    ? undefined
    : `logProbs[${at}] is ${showValue(logProbs[at])}; expected a finite number of at most 0, in nats`;
}

function stopProblem(
  { stop, tokens }: Readonly<Record<string, unknown>>,
  { stopTokens }: AskedOf,
): string | undefined {
  if (!(stops as readonly unknown[]).includes(stop))
    return `stop is ${showValue(stop)}; expected one of ${stops.join(', ')}`;
  const last: unknown = (tokens as unknown[]).at(-1);
  return stop === 'stop-token' && !(stopTokens as readonly unknown[]).includes(last)
    ? `stop is stop-token, but the last token is ${showValue(last)}; expected one of stopTokens, ${showValue(stopTokens)}`
    : undefined;
}

function versionProblem(drawnBy: unknown, { version }: AskedOf): string | undefined {
  if (!isCount(drawnBy)) return `version is ${showValue(drawnBy)}; expected a whole number`;
  return version === undefined || drawnBy === version
    ? undefined
    : `version is ${drawnBy}; expected ${version}, the version of the weights that it received last`;
}

/** The first of some lists that is not as long as it should be, or has something else than finite numbers. */
export function numbersProblem(
  lists: readonly [numbers: Float32Array | Int32Array | undefined, length: number][],
): string | undefined {
  for (const [index, [numbers, length]] of lists.entries()) {
    const got = numbers?.length ?? 'no';
    if (got !== length) return `list ${index} has ${got} numbers; expected ${length}`;
    const at = numbers!.findIndex((value) => !Number.isFinite(value));
    if (at >= 0) return `list ${index} has ${numbers![at]} at ${at}; expected a finite number`;
  }
  return undefined;
}
