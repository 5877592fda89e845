import type { Sampling } from '../../core/services/generator.ts';
import type { Writes } from '../remote/opening/template-check.ts';
import type { ServerProtocol } from '../remote/server-protocol.ts';

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
