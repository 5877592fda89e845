import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Generation, GenerationRequest } from '../../core/services/generator.ts';

const stops: ReadonlySet<unknown> = new Set([
  'stop-token',
  'max-tokens',
  'context-full',
  'aborted',
] satisfies Generation['stop'][]);

/**
 * Reads what a server says it drew.
 *
 * @param version of the weights that were to draw
 * @throws AgentRlError `GENERATION_FAILED` for what no generator may answer
 */
export function readGeneration(
  answer: unknown,
  { maxTokens, stopTokens }: Pick<GenerationRequest, 'maxTokens' | 'stopTokens'>,
  version: number | undefined,
): Generation {
  const {
    tokens,
    logProbs,
    stop,
    version: drawnBy,
  }: Readonly<Record<string, unknown>> = isRecord(answer) ? answer : {};
  if (!isListOf(tokens, isToken)) throw wrong('tokens', tokens);
  if (tokens.length > maxTokens) throw wrong('tokens', `${tokens.length} of at most ${maxTokens}`);
  if (!isListOf(logProbs, isLogProb) || logProbs.length !== tokens.length)
    throw wrong('logProbs', logProbs);
  if (!stops.has(stop)) throw wrong('stop', stop);
  if (stop === 'stop-token' && !stopTokens.includes(tokens.at(-1) ?? -1)) throw wrong('stop', stop);
  const isExpected = version === undefined || drawnBy === version;
  if (!isToken(drawnBy) || !isExpected) throw wrong('version', drawnBy);
  return { tokens, logProbs, stop: stop as Generation['stop'], version: drawnBy };
}

const isListOf = <Item>(value: unknown, is: (one: unknown) => one is Item): value is Item[] =>
  Array.isArray(value) && value.every(is);

const isToken = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** Rounding may leave a certain token a little above 0. */
const isLogProb = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value < 1e-3;

const wrong = (name: string, value: unknown): AgentRlError =>
  new AgentRlError(
    'GENERATION_FAILED',
    `The generator served: its answer is no generation; ${name} is ${JSON.stringify(value)?.slice(0, 80)}.`,
  );
