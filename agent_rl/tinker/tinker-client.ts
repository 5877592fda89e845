import { AgentRlError, type ErrorCode } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { showValue } from '../core/show-value.ts';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  NoAnswer,
  type Patience,
} from '../http/http-client.ts';

export interface TinkerClientOptions extends Patience {
  http: HttpClient;
  /** For what is downloaded. */
  files: HttpClient;
  /** For messages. */
  url: string;
  /** Longest that one operation may take, in seconds. */
  deadlineS: number;
  /** Of failures. */
  code: Extract<ErrorCode, 'GENERATION_FAILED' | 'LEARNING_FAILED'>;
}

/**
 * Whether the service has done what was asked is not known, or it has lost what the request was about. What was saved
 * is all that can be relied on.
 */
export class Lost extends Error {
  override readonly name = 'Lost';
}

/** An operation of the service. */
export interface Operation {
  /** After `/api/v1/`. */
  path: string;
  body: object | Buffer;
  /** Whether it may be asked for again when it is unknown whether it was done. */
  again: boolean;
}

/** Seconds in which the service must take a request; the work itself comes after. */
const takenS = 60;
/** Seconds that a service holds a question for a result before it says 408. */
const heldS = 300;

/**
 * The Tinker REST protocol: what takes long is submitted, and its result is asked for until it is there.
 *
 * By class of error: a question, which changes nothing, is asked again until the service has been out of reach for `patienceS`; of an
 * operation that must not be done twice a lost answer is `Lost`; what the service refuses is not asked again.
 */
export class TinkerClient {
  constructor(private readonly options: TinkerClientOptions) {}

  get url(): string {
    return this.options.url;
  }

  get deadlineS(): number {
    return this.options.deadlineS;
  }

  warn(text: string): void {
    this.options.warn(text);
  }

  failure(problem: string, cause?: unknown): AgentRlError {
    return new AgentRlError(this.options.code, `The Tinker service at ${this.url} ${problem}.`, {
      cause,
    });
  }

  /** A question or an order that is answered at once. @throws AgentRlError, Lost */
  async ask(
    request: Pick<HttpRequest, 'method' | 'path' | 'body'> & { again: boolean },
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const path = `/api/v1/${request.path}`;
    const answer = await this.#send({ ...request, path, deadlineS: takenS }, { signal });
    return this.#json(request.path, this.accepted(request.path, answer));
  }

  /** The result of an operation. @throws AgentRlError, Lost */
  async result({ path, body, again }: Operation, signal?: AbortSignal): Promise<HttpAnswer> {
    const submitted = await this.#send(
      {
        method: 'POST',
        path: `/api/v1/${path}`,
        ...(Buffer.isBuffer(body) ? { raw: body, contentType: protobuf } : { body }),
        deadlineS: takenS,
        again,
      },
      { signal },
    );
    const { request_id: id } = this.#json(path, this.accepted(path, submitted));
    if (typeof id !== 'string') throw this.failure(`accepted ${path} but returned no request_id`);
    return this.#retrieve(path, id, signal);
  }

  /** The same where the result is JSON. */
  async jsonResult(
    operation: Operation,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.#json(operation.path, await this.result(operation, signal));
  }

  /** A file, wherever the service says that it is. @throws AgentRlError, Lost */
  async download(path: string): Promise<Buffer> {
    const { files, deadlineS } = this.options;
    const request = { method: 'GET', deadlineS, again: true } as const;
    const answer = await this.#send({ ...request, path: `/api/v1/${path}` }, { http: files });
    if (answer.location === undefined) return this.accepted(path, answer).bytes;
    const { origin, pathname, search } = new URL(answer.location, this.url);
    const there = { ...request, path: pathname + search };
    if (origin === new URL(this.url).origin)
      return this.accepted(path, await this.#send(there, { http: files })).bytes;
    // Another server is not told the key.
    const other = files.elsewhere(origin);
    try {
      return this.accepted(path, await this.#send(there, { http: other })).bytes;
    } finally {
      await other.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.options.http.close(), this.options.files.close()]);
  }

  async #retrieve(path: string, id: string, signal?: AbortSignal): Promise<HttpAnswer> {
    const { deadlineS } = this.options;
    const until = performance.now() + 1000 * deadlineS;
    for (;;) {
      const leftS = (until - performance.now()) / 1000;
      if (leftS <= 0) throw this.failure(`did not finish ${path} within ${deadlineS} s`);
      const answer = await this.#send(
        {
          method: 'POST',
          path: '/api/v1/retrieve_future',
          body: { request_id: id },
          deadlineS: Math.min(leftS, heldS + takenS),
          again: true,
        },
        { signal },
      );
      // It works on it still.
      if (answer.status !== 408) return this.accepted(path, answer);
    }
  }

  async #send(
    request: HttpRequest,
    { http = this.options.http, signal }: { http?: HttpClient; signal?: AbortSignal | undefined },
  ): Promise<HttpAnswer> {
    try {
      return await http.sendPatiently(request, this.options, signal);
    } catch (thrown) {
      if (!(thrown instanceof NoAnswer)) throw thrown;
      if (!request.again) throw new Lost(thrown.message, { cause: thrown });
      throw this.failure(`is unreachable: ${thrown.message}`, thrown);
    }
  }

  /** @throws AgentRlError for what the service refuses, Lost for what it has lost */
  accepted(path: string, answer: HttpAnswer): HttpAnswer {
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    const said = detailOf(answer);
    if (status === 401 || status === 403)
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The Tinker service at ${this.url} rejected the key (${status}: ${said}). Set apiKeyEnv to the environment variable that holds it.`,
      );
    const problem = `answered ${status} to ${path}: ${said}`;
    if (status >= 500 || /not (?:loaded|found)/i.test(said))
      throw new Lost(`${this.url} ${problem}`);
    throw this.failure(problem);
  }

  #json(path: string, { json, text }: HttpAnswer): Readonly<Record<string, unknown>> {
    if (isRecord(json)) return json;
    throw this.failure(`answered ${showValue(text.slice(0, 80))} to ${path}; expected an object`);
  }
}

const protobuf = 'application/x-protobuf';

/** What FastAPI says of an error, or the beginning of whatever there is. */
function detailOf({ json, text }: HttpAnswer): string {
  const detail = isRecord(json) ? json['detail'] : undefined;
  return (typeof detail === 'string' ? detail : text).slice(0, 400);
}
