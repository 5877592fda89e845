import { append } from '../../core/long-lists.ts';
import type { GenerationRequest } from '../../core/services/generator.ts';
import type { Drawn } from './server-protocol.ts';

/**
 * What servers draw, over the tokens that end a text for them and no turn of the run: what follows is asked for with what there
 * is as context.
 *
 * @throws what asking throws
 */
export async function drawnToTheEnd(
  request: GenerationRequest,
  ask: (request: GenerationRequest) => Promise<Drawn>,
): Promise<Drawn> {
  const tokens: number[] = [];
  const logProbs: number[] = [];
  for (;;) {
    const drawn = await ask({
      ...request,
      tokens: [...request.tokens, ...tokens],
      maxTokens: request.maxTokens - tokens.length,
      key: { ...request.key, drawn: (request.key.drawn ?? 0) + tokens.length },
    });
    append(tokens, drawn.tokens);
    append(logProbs, drawn.logProbs);
    const isFull = tokens.length >= request.maxTokens;
    if (drawn.ended !== 'early' || isFull)
      return {
        ...drawn,
        tokens,
        logProbs,
        ended: drawn.ended === 'early' ? 'length' : drawn.ended,
      };
  }
}
