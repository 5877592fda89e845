import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Dispatcher, EnvHttpProxyAgent, interceptors } from 'undici';

import { messageOf } from '../core/errors.ts';
import { underSignals } from '../core/stopping/abort.ts';
import { authorities } from './authorities.ts';

export interface HttpClientOptions {
  /** Without a slash at its end. */
  url: string;
  /** Sent as a bearer's; never shown. */
  token?: string | undefined;
  /** Sent as basic authentication, instead of a token; the password is never shown. */
  login?: { user: string; password: string };
  /** PEM file of authorities trusted besides the usual ones, for `https:`. */
  caFile?: string | undefined;
  /** Sent with each request; never shown. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Requests at once. */
  connections: number;
  /** Longest answer; 64 MiB by default. */
  mostAnswerBytes?: number;
  /** Seconds that the body of an answer has before it must have come at 1 KiB a second; 20 by default. */
  bodyGraceS?: number;
  /** Milliseconds before the second try; each further pause is twice as long. */
  pauseMs: number;
  /** Notified of each request that took more than one try. */
  onRetry: (message: string) => void;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** May end with a query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of a body. */
  raw?: string | Uint8Array | undefined;
  /** Of `raw` and `file`; application/octet-stream by default. */
  contentType?: string | undefined;
  /** A file that is sent as it is, instead of a body. */
  file?: string;
  /** Longest answer to this request, where that is known; counts where it is less than the client's. */
  mostAnswerBytes?: number;
  /** Besides the client's; never shown. */
  headers?: Readonly<Record<string, string>>;
  /** For everything, further tries and the pauses between them too. */
  deadlineS: number;
  /** Whether it may be made again when it is unknown whether the server has run it. */
  again: boolean;
}

export interface HttpAnswer {
  status: number;
  /** The parsed answer; undefined where it is not JSON. */
  json: unknown;
  text: string;
  bytes: Buffer;
  /** The cookies that it sets, to be sent back. */
  setCookie?: string | undefined;
  /** Where a redirection points to: it is not followed. */
  location?: string | undefined;
}

/** How long a server that is out of reach is asked again. */
export interface Patience {
  patienceS: number;
  /** Told once where a request has to wait. */
  warn: (text: string) => void;
}

/** There was no answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** An answer was begun that has no end in sight. Asking for it again right away would waste as much. */
export class EndlessAnswer extends NoAnswer {}

const mostAnswerBytesByDefault = 64 * 2 ** 20;
const leastBytesPerS = 1024;
/** Statuses that another try may change. */
const passing = [429, 502, 503, 504];
const mostRetries = 4;
/** Between two looks at whether a server is back. */
const lookMs = 1000;

/** JSON and files over HTTP to one server. Proxies are taken from HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export class HttpClient {
  readonly #agent: EnvHttpProxyAgent;

  /** @throws AgentRlError `CONFIG_INVALID` for a file of authorities that cannot be used */
  constructor(private readonly options: HttpClientOptions) {
    const ca = authorities({ caFile: options.caFile, environment: process.env });
    const tls = ca === undefined ? {} : { ca };
    this.#agent = new EnvHttpProxyAgent({
      connect: tls,
      requestTls: tls,
      proxyTls: tls,
      connections: options.connections,
      // The server keeps a program's deadline; ours is that of the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** @throws NoAnswer; the signal's reason when it is aborted */
  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer> {
    signal?.throwIfAborted();
    const { url, bodyGraceS = 20, mostAnswerBytes = mostAnswerBytesByDefault } = this.options;
    const { method, path, body, raw, file, deadlineS } = request;
    const { origin, pathname, search } = new URL(url + path);
    const authorization = authorizationOf(this.options);
    const deadline = AbortSignal.timeout(Math.ceil(1000 * deadlineS));
    const tries = { count: 0 };
    try {
      return await underSignals([signal, deadline], async (either) => {
        const answer = await this.#dispatcher(request, tries).request({
          origin,
          path: pathname + search,
          method,
          headers: {
            accept: 'application/json',
            ...this.options.headers,
            ...request.headers,
            'content-type': typeOf(request),
            authorization,
          },
          body: raw ?? (file === undefined ? JSON.stringify(body) : createReadStream(file)),
          signal: either,
        });
        const bytes = await wholeBody(answer.body, {
          most: Math.min(mostAnswerBytes, request.mostAnswerBytes ?? Infinity),
          graceS: bodyGraceS,
        });
        this.#reportTries(request, tries.count, `took ${tries.count} tries`);
        return answerOf(answer, bytes);
      });
    } catch (cause) {
      signal?.throwIfAborted();
      const why = deadline.aborted ? `no answer within ${deadlineS} s` : messageOf(cause);
      this.#reportTries(request, tries.count, `failed ${tries.count} times: ${why}`);
      if (cause instanceof EndlessAnswer)
        throw new EndlessAnswer(`${url} failed: ${why}`, { cause });
      throw new NoAnswer(`${url} cannot be reached: ${why}`, { cause });
    }
  }

  /**
   * The same for as long as the patience lasts, after 429 and where there is no answer: only once where the request may not be made
   * again, or its answer has no end.
   *
   * @throws NoAnswer; the signal's reason when it is aborted
   */
  async sendPatiently(
    request: HttpRequest,
    { patienceS, warn }: Patience,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const until = performance.now() + 1000 * patienceS;
    const waits = async (why: string, tries: number): Promise<void> => {
      if (tries === 1) warn(`${why}. Waiting up to ${patienceS} s.`);
      await sleep(lookMs, undefined, { signal });
    };
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.send(request, signal);
        // It did nothing, and wants less to do at once.
        if (answer.status !== 429 || performance.now() >= until) return answer;
        await waits(`${this.options.url} is rate limiting requests (429)`, tries);
      } catch (thrown) {
        if (thrown instanceof EndlessAnswer) warn(`${thrown.message}. Not retrying.`);
        const isOver = !request.again || performance.now() >= until;
        if (!(thrown instanceof NoAnswer) || thrown instanceof EndlessAnswer || isOver)
          throw thrown;
        await waits(thrown.message, tries);
      }
    }
  }

  #reportTries({ method, path }: HttpRequest, count: number, how: string): void {
    // A query may hold a signature.
    const [shown] = path.split('?');
    if (count > 1) this.options.onRetry(`${method} ${this.options.url}${shown} ${how}.`);
  }

  /** A client of another server, which gets none of this one's secrets. */
  elsewhere(url: string): HttpClient {
    const { token: _token, login: _login, headers: _headers, ...others } = this.options;
    return new HttpClient({ ...others, url });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #dispatcher({ method, again, file }: HttpRequest, tries: { count: number }): Dispatcher {
    const counting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
      tries.count += 1;
      return dispatch(options, handler);
    };
    // A file's stream cannot be read twice.
    if (!again || file !== undefined) return this.#agent.compose(counting);
    return this.#agent.compose(
      counting,
      interceptors.retry({
        methods: [method],
        statusCodes: passing,
        maxRetries: mostRetries,
        minTimeout: this.options.pauseMs,
        maxTimeout: 8000,
      }),
    );
  }
}

/** @throws EndlessAnswer where it is longer or slower than allowed; what the connection fails with */
async function wholeBody(
  body: Dispatcher.ResponseData['body'],
  { most, graceS }: { most: number; graceS: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let beganMs: number | undefined;
  const pace = setInterval(() => {
    const seconds = (performance.now() - (beganMs ?? Infinity)) / 1000;
    if (bytes < leastBytesPerS * (seconds - graceS))
      body.destroy(
        new EndlessAnswer(
          `its answer arrives too slowly, ${bytes} bytes in ${seconds.toFixed(0)} s`,
        ),
      );
  }, 50 * graceS);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop ends the connection.
      if (bytes > most) throw new EndlessAnswer(`its answer is longer than ${most} bytes`);
      chunks.push(chunk);
      // White space alone keeps a connection open while the answer is made.
      if (beganMs === undefined && chunk.some((byte) => byte > 32)) beganMs = performance.now();
    }
  } finally {
    clearInterval(pace);
  }
  return Buffer.concat(chunks);
}

/** Of what is sent with a request. */
function typeOf({ body, raw, file, contentType = 'application/octet-stream' }: HttpRequest) {
  if (body !== undefined) return 'application/json';
  return (raw ?? file) === undefined ? undefined : contentType;
}

function authorizationOf({ token, login }: Pick<HttpClientOptions, 'token' | 'login'>) {
  if (login === undefined) return token === undefined ? undefined : `Bearer ${token}`;
  return `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
}

function answerOf({ statusCode, headers }: Dispatcher.ResponseData, bytes: Buffer): HttpAnswer {
  const location = headers['location'];
  const cookies = [headers['set-cookie'] ?? []].flat().map((one) => one.split(';')[0]);
  let text: string | undefined;
  return {
    status: statusCode,
    bytes,
    get text() {
      return (text ??= new TextDecoder().decode(bytes));
    },
    get json() {
      return parsed(this.text);
    },
    setCookie: cookies.length === 0 ? undefined : cookies.join('; '),
    location: typeof location === 'string' ? location : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, most often; the caller reports what it expected.
    return undefined;
  }
}
