import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

import type { Dispatcher } from 'undici';

import { AgentRlError, messageOf, nodeCodeOf } from '../../core/errors.ts';
import { inTime, withDeadline } from '../../core/stopping/abort.ts';
import type { StartGate } from './rate-limit.ts';
import type { CommonWebSettings } from './settings.ts';
import { WebFailure } from './web-failure.ts';

interface Patience extends Pick<
  CommonWebSettings,
  'timeoutS' | 'deadlineS' | 'maxRetries' | 'backoffFactor'
> {
  /** Longest answer taken, in bytes, packed and unpacked. */
  maxBytes: number;
}

export interface WebRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | undefined;
}

export interface WebResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

const userAgent = 'agent_rl/0.1';

/** Failures of the network that another try may not meet. */
const passingCodes =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|E(?:NET|HOST)(?:DOWN|UNREACH)|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT))$/;

/**
 * Makes requests that end: by their deadline, by their size, or with an answer. 429, 5xx and failures of the network
 * are tried again, as late as `Retry-After` says. Follows no redirect.
 */
export class WebClient {
  constructor(
    private readonly dispatcher: Dispatcher,
    /** Passed by every attempt, a repeated one too. */
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
    signal.throwIfAborted();
    const { deadlineS: seconds } = this.patience;
    const late = new WebFailure('timeout', `no answer within ${seconds} s`);
    const endMs = performance.now() + seconds * 1000;
    return inTime((until) => this.#answer(request, until, endMs), { seconds, signal, late });
  }

  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  /** @param endMs when no answer is of use any more, on the clock of `performance.now()` */
  async #answer(request: WebRequest, signal: AbortSignal, endMs: number): Promise<WebResponse> {
    const { maxRetries, backoffFactor } = this.patience;
    for (let tries = 1; ; tries += 1) {
      await this.gate(signal);
      const answer = await this.#attempt(request, signal);
      if ('status' in answer && answer.status !== 429 && answer.status < 500) return answer;
      const asked = 'status' in answer ? retryAfterS(answer.headers['retry-after']) : undefined;
      const waitS = asked ?? backoffFactor * 2 ** (tries - 1);
      const tooLate = performance.now() + 1000 * waitS >= endMs;
      if (tries > maxRetries || tooLate) throw failureOf(answer, request.url, asked);
      await pause(waitS, signal);
    }
  }

  /** An answer or a failure that another try may change. @throws what no other try would change */
  async #attempt(request: WebRequest, signal: AbortSignal): Promise<WebResponse | WebFailure> {
    const { timeoutS: seconds } = this.patience;
    let heard = 'no answer';
    const onHead = (): void => {
      heard = 'only part of an answer';
    };
    try {
      const limits = { seconds, signal };
      const timed = await withDeadline((until) => this.#request(request, until, onHead), limits);
      if (timed !== 'timeout') return timed.value;
      return new WebFailure('timeout', `${heard} within ${seconds} s`);
    } catch (error) {
      const explained = explain(error, request.url);
      if (explained instanceof WebFailure && passingCodes.test(nodeCodeOf(error))) return explained;
      throw explained;
    }
  }

  async #request(
    { url, method, headers, body }: WebRequest,
    signal: AbortSignal,
    onHead: () => void,
  ): Promise<WebResponse> {
    const { maxBytes } = this.patience;
    const answer = await this.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      signal,
      // The attempt's own limit is to the last byte; these would only end silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    onHead();
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop ends the connection.
      if (bytes > maxBytes) {
        throw new WebFailure('too-large', `the answer is longer than ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
    const fields = Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, value?.toString()]),
    );
    const packed = Buffer.concat(chunks);
    const unpacked = await unpack(packed, fields['content-encoding'], maxBytes);
    return { status: answer.statusCode, headers: fields, body: unpacked };
  }
}

const pause = (seconds: number, signal: AbortSignal) =>
  withDeadline(() => new Promise<never>(() => {}), { seconds, signal });

/** Seconds that an answer asks to be left alone, from `Retry-After` as a number or as a date. */
function retryAfterS(asked = ''): number | undefined {
  if (asked.trim() === '') return undefined;
  const seconds = Number(asked);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(asked);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

function failureOf(
  answer: WebResponse | WebFailure,
  { host }: URL,
  waitS: number | undefined,
): WebFailure {
  if (answer instanceof WebFailure) return answer;
  if (answer.status !== 429) {
    return new WebFailure('server-error', `${host} answers ${answer.status}`);
  }
  const asks = waitS === undefined ? '' : ` and asks to wait ${Math.ceil(waitS)} s`;
  return new WebFailure('rate-limited', `${host} answers 429, too many requests${asks}`);
}

function explain(error: unknown, { host }: URL): AgentRlError {
  // Errors of our own come as the cause of a failed connection, too.
  const known = AgentRlError.is(error) ? error : (error as { cause?: unknown }).cause;
  if (AgentRlError.is(known)) return known;
  const text = nodeCodeOf(error) || messageOf(error);
  return new WebFailure('network', `${host} cannot be reached: ${text}`, { cause: error });
}

const unpackers: Readonly<
  Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A body that a server packed though it was not asked to. */
async function unpack(body: Buffer, encoding = '', maxOutputLength: number): Promise<Buffer> {
  if (encoding === '' || encoding === 'identity') return body;
  const unpacker = unpackers[encoding.trim().toLowerCase()];
  if (unpacker === undefined) {
    throw new WebFailure('bad-response', `the answer is packed as ${encoding.slice(0, 40)}`);
  }
  try {
    return await unpacker(body, { maxOutputLength });
  } catch (cause) {
    if (nodeCodeOf(cause) === 'ERR_BUFFER_TOO_LARGE') {
      const text = `the unpacked answer is longer than ${maxOutputLength} bytes`;
      throw new WebFailure('too-large', text, { cause });
    }
    throw new WebFailure('bad-response', `the answer cannot be unpacked: ${messageOf(cause)}`);
  }
}
