import type { CapturedExchanges, Exchange } from './exchanges.ts';
import { type DoubleAnswer, type GotRequest, httpDouble, type HttpDouble } from './http-double.ts';

/** What a double answers instead of its own, where this is not undefined. */
export type Instead = (request: GotRequest) => DoubleAnswer | Promise<DoubleAnswer>;

/** A server as far as it is asked, in memory: the answers that were captured, with tokens of its own in them. */
export abstract class CapturedDouble {
  instead: Instead | undefined;
  server!: HttpDouble;
  readonly #exchanges: readonly Exchange[];

  constructor({ exchanges }: CapturedExchanges, instead: Instead | undefined) {
    this.#exchanges = exchanges;
    this.instead = instead;
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  protected async listening(port?: number): Promise<this> {
    this.server = await httpDouble(
      async (request) => (await this.instead?.(request)) ?? this.answer(request),
      port,
    );
    return this;
  }

  protected abstract answer(request: GotRequest): DoubleAnswer;

  /** The captured answer of this name, with changes. */
  protected as(name: string, change: (answer: Record<string, unknown>) => object = () => ({})) {
    const { status, answer } = this.#exchanges.find((one) => one.name === name)!;
    const copy = structuredClone(answer) as Record<string, unknown>;
    return { status, json: typeof copy === 'object' ? { ...copy, ...change(copy) } : copy };
  }

  /** vLLM's refusal of a bias for a token beyond the vocabulary. */
  protected noSuchToken(vocabSize: number) {
    const message = `token_id(s) in logit_bias contain out-of-vocab token ids. Vocabulary size: ${vocabSize} (parameter=logit_bias)`;
    const error = { message, type: 'BadRequestError', param: 'logit_bias', code: 400 };
    return this.as('no such token', () => ({ error }));
  }
}

export const notFound = { status: 404, json: { detail: 'Not Found' } };
