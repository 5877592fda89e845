import type { GenerationRequest } from '../../core/services/generator.ts';
import type { Drawn } from '../remote/server-protocol.ts';

type DrawnTokens = Pick<Drawn, 'tokens' | 'logProbs' | 'ended'>;

/**
 * What was drawn by a server that may know other stop tokens than the run's: it ends at one of its own, which is `early`, or draws
 * on behind one of ours, where it is cut off.
 *
 * @param ended as the server sees it
 * @param onPassed told of the token behind which it is cut
 */
export function upToTheStop(
  { tokens, logProbs, ended }: DrawnTokens,
  { stopTokens }: Pick<GenerationRequest, 'stopTokens'>,
  onPassed: (token: number) => void,
): DrawnTokens {
  const stop = tokens.findIndex((token) => stopTokens.includes(token));
  if (stop < 0) return { tokens, logProbs, ended: ended === 'stop' ? 'early' : ended };
  const length = stop + 1;
  if (length < tokens.length) onPassed(tokens[stop]!);
  return { tokens: tokens.slice(0, length), logProbs: logProbs.slice(0, length), ended: 'stop' };
}
