import { append } from '../../core/long-lists.ts';
import type { Generation, GenerationRequest } from '../../core/services/generator.ts';

/** Tokens that a server may be asked for at once. A slow server that draws `slowest` tokens a second answers in time. */
export const tokensAtOnce = (deadlineS: number, most: number): number =>
  Math.min(most, Math.max(fewest, Math.floor(slowest * deadlineS)));

/** Of a server that keeps what it computed, and computes no more than these tokens again. */
export const mostAtOnce = 1024;
const fewest = 16;
const slowest = 2;

/** Longest that an answer to a request can be, with its text, its bytes and the alternatives that some servers list. */
export const mostAnswerBytes = ({
  tokens,
  maxTokens,
}: Pick<GenerationRequest, 'tokens' | 'maxTokens'>): number =>
  2 ** 20 + 64 * tokens.length + 2 ** 12 * maxTokens;

/**
 * A turn, asked for in parts: each has what was drawn before it as context and goes on in the turn's draws. A deadline on one part
 * is then a limit on a server's silence, and long turns do not fail more often than short ones.
 *
 * @param atOnce most tokens of a part
 * @param goesOn whether the turn goes on after a part
 * @returns the last part, with the tokens of all
 * @throws what asking throws
 */
export async function drawnInParts<Part extends Pick<Generation, 'tokens' | 'logProbs'>>(
  request: GenerationRequest,
  { atOnce, goesOn }: { atOnce: number; goesOn: (part: Part) => boolean },
  ask: (request: GenerationRequest) => Promise<Part>,
): Promise<Part> {
  const tokens: number[] = [];
  const logProbs: number[] = [];
  for (;;) {
    const part = await ask({
      ...request,
      tokens: [...request.tokens, ...tokens],
      maxTokens: Math.min(atOnce, request.maxTokens - tokens.length),
      key: { ...request.key, drawn: (request.key.drawn ?? 0) + tokens.length },
    });
    append(tokens, part.tokens);
    append(logProbs, part.logProbs);
    if (tokens.length >= request.maxTokens || !goesOn(part)) return { ...part, tokens, logProbs };
  }
}
