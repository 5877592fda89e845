import type { GenerationRequest } from '../../core/services/generator.ts';

/** The parts of a request for a generation that come from the server's state. */
export interface Asked {
  /** Of the model or adapter, as the server calls it. */
  model: string;
  /** Of this request, unique. */
  id: string;
  seed: number;
  /** Most tokens that may be drawn; those that fit the context. */
  maxTokens: number;
}

/** A generation as a server gave it. */
export interface Drawn {
  tokens: readonly number[];
  logProbs: readonly number[];
  /** `early`: at a token that ends a text for the server and no turn of the run. */
  ended: 'stop' | 'early' | 'length' | 'abort';
  /** The model that the server says it drew from; absent where it does not say. */
  model?: string | undefined;
  /** Names of the weights that drew the tokens; absent where the server has none. */
  weights?: readonly string[] | undefined;
  /** Tokens of the context as the server counted them; absent where it does not. */
  contextTokens?: number | undefined;
}

/** What a server says of tokens that it was given. */
export interface Scored extends Pick<Drawn, 'model' | 'weights' | 'contextTokens'> {
  /** In each place the log-probabilities of the token there and of the likeliest ones, by token; absent in the first. */
  places: readonly (ReadonlyMap<number, unknown> | undefined)[];
}

/** How servers score tokens that they are given, at temperature 1. */
export interface ScoringWay {
  readonly path: string;
  /** @param topK how many of the likeliest tokens are wanted in each place */
  body(tokens: readonly number[], asked: Pick<Asked, 'model' | 'id'> & { topK: number }): object;
  /** @returns undefined where the server does not score. @throws UnusableAnswer */
  scored(answer: unknown, tokens: readonly number[]): Scored | undefined;
}

/** How a kind of server is asked for tokens. */
export interface ServerProtocol {
  readonly path: string;
  body(request: Omit<GenerationRequest, 'maxTokens'>, asked: Asked): object;
  /** @throws UnusableAnswer for an answer that does not fit the request */
  drawn(answer: unknown, request: Pick<GenerationRequest, 'stopTokens'>): Drawn;
  /**
   * Asks for the log-probabilities that an answer lacks, NaN in `drawn`; absent where answers have all.
   *
   * @param ask answers to further bodies at the same path, all within the deadline
   */
  filled?(
    drawn: Drawn,
    request: Pick<GenerationRequest, 'tokens' | 'sampling'>,
    ask: (body: object) => Promise<unknown>,
  ): Promise<Drawn>;
  /** Cancels a request; absent where closing the connection is enough. */
  abort?(id: string): { path: string; body: object };
  /** How it scores given tokens. Absent where it cannot. */
  readonly scoring?: ScoringWay;
  /** What answers 200 when the server is there. */
  readonly healthPath: string;
}
