import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

import { type Dispatcher, interceptors } from 'undici';

import { AgentRlError, messageOf, nodeCodeOf } from '../../core/errors.ts';
import { gated, type StartGate } from './connection/start-gate.ts';
import { retryAfterS, retryOptions, statusOf } from './connection/retry-policy.ts';
import { WebFailure } from './web-failure.ts';
import { wholeBody } from './connection/whole-body.ts';

/** How long and how often a request is tried. */
export interface Patience {
  /** Seconds one attempt may take, to its last byte. */
  timeoutS: number;
  /** Seconds for everything: waiting for the rate limit, all attempts, the pauses between them. */
  deadlineS: number;
  maxRetries: number;
  /** Seconds before the first further try; doubled before each next one. */
  backoffFactor: number;
  /** Longest answer taken, in bytes, packed and unpacked. */
  maxBytes: number;
}

export interface WebRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export interface WebResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

const userAgent = 'agent_rl/0.1';

/** Makes requests that end: by their deadline, by their size, or with an answer. Follows no redirect. */
export class WebClient {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly gate: StartGate,
    private readonly patience: Patience,
  ) {}

  /**
   * The answer to a request, whatever its status below 429 and 5xx.
   *
   * @throws WebFailure `timeout`, `rate-limited`, `server-error`, `network`, `too-large`, `bad-response`,
   *   `address-refused`; what the gate throws; the signal's reason when it is aborted.
   */
  async send(request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
    const { patience } = this;
    signal.throwIfAborted();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(outOfTime(patience)), patience.deadlineS * 1000);
    const either = AbortSignal.any([signal, deadline.signal]);
    const deadlineMs = performance.now() + patience.deadlineS * 1000;
    try {
      const dispatcher = this.dispatcher.compose(
        wholeBody(patience),
        gated(this.gate, either),
        interceptors.retry(retryOptions({ ...patience, deadlineMs, signal: either })),
      );
      return await this.#request(dispatcher, request, either);
    } catch (error) {
      signal.throwIfAborted();
      throw deadline.signal.aborted ? outOfTime(patience) : explained(error, request.url);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  async #request(
    dispatcher: Dispatcher,
    { url, method, headers, body }: WebRequest,
    signal: AbortSignal,
  ): Promise<WebResponse> {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers },
      ...(body === undefined ? {} : { body }),
      signal,
      // The attempt's own limit is to the last byte; these would only end silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const packed = Buffer.from(await answer.body.bytes());
    const fields = flat(answer.headers);
    const bytes = await unpacked(packed, fields['content-encoding'], this.patience.maxBytes);
    return { status: answer.statusCode, headers: fields, body: bytes };
  }
}

const outOfTime = ({ deadlineS }: Patience): WebFailure =>
  new WebFailure('timeout', `no answer within ${deadlineS} s`);

const flat = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );

const unpackers: Readonly<
  Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A body that a server packed though it was not asked to. */
async function unpacked(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return body;
  const unpack = unpackers[encoding.trim().toLowerCase()];
  if (unpack === undefined) {
    throw new WebFailure('bad-response', `the answer is packed as ${encoding.slice(0, 40)}`);
  }
  try {
    return await unpack(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (nodeCodeOf(cause) === 'ERR_BUFFER_TOO_LARGE') {
      const text = `the unpacked answer is longer than ${maxBytes} bytes`;
      throw new WebFailure('too-large', text, { cause });
    }
    throw new WebFailure('bad-response', `the answer cannot be unpacked: ${messageOf(cause)}`);
  }
}

/** What undici throws, in the terms of this package. */
function explained(error: unknown, { host }: URL): unknown {
  // Errors of our own come as the cause of a failed connection, too.
  const known = AgentRlError.is(error) ? error : (error as { cause?: unknown }).cause;
  if (AgentRlError.is(known)) return known;
  const status = statusOf(error);
  if (status === 429) {
    const wait = retryAfterS(error);
    const asks = wait === undefined ? '' : ` and asks to wait ${Math.ceil(wait)} s`;
    return new WebFailure('rate-limited', `${host} answers 429, too many requests${asks}`);
  }
  if (status !== undefined) return new WebFailure('server-error', `${host} answers ${status}`);
  const text = nodeCodeOf(error) || messageOf(error);
  return new WebFailure('network', `${host} cannot be reached: ${text}`, { cause: error });
}
