import type { Sampling, GenerationRequest } from '../../core/services/generator.ts';
import type { Writes } from '../remote/opening/served-models.ts';
import type { ServerProtocol, Drawn } from '../remote/server-protocol.ts';

export interface ProtocolOptions {
  /** Number of tokens that exist. */
  vocabSize: number;
  /** Told of a stop token that a server drew on behind. */
  onPassed: (token: number) => void;
}

/** How a kind of server takes token ids and says which tokens it drew. */
export interface Dialect {
  /** For messages and the log: whose way it is. */
  readonly name: string;
  /** Whether a choice of `/v1/completions`, asked for with `logprobs` and `return_token_ids`, shows this kind. */
  shows(choice: Readonly<Record<string, unknown>>): boolean;
  protocol(options: ProtocolOptions): ServerProtocol;
  /** Asks for the likeliest tokens besides the one that is drawn. */
  readonly several: object;
  /** Log-probabilities that an answer to this gives in the place of its first token; empty where it does not. */
  likeliest(answer: unknown): ReadonlyMap<unknown, number>;
  /** Why tokens cannot be drawn like this with their log-probabilities, whatever the server is started with. */
  samplingProblem?(sampling: Sampling): string | undefined;
  /** @param model the server's name of it */
  writes(model: string): Writes;
}

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
