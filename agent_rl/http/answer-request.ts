import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { isRecord } from '../core/is-record.ts';
import { abortable, underSignals } from '../core/stopping/abort.ts';
import { type Arriving, type BodyBounds, readBody } from './read-body.ts';
import { Refusal } from './refusal.ts';
import { refuseStrangers } from './refuse-strangers.ts';

/** Why the signal of an answered request is aborted: not because the caller left. */
export const requestAnswered = new Error('the request was answered');

/** The answer of a path. */
export interface Page {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Its groups are handed on. */
  path: RegExp;
  /**
   * The answer: JSON, also as a `WholeAnswer`, or events that are sent as they come. The signal is aborted when no one waits for it any more.
   *
   * @throws Refusal
   */
  answer(request: PageRequest): Promise<object | EventAnswer>;
}

export const page = (method: Page['method'], path: RegExp, answer: Page['answer']): Page => ({
  method,
  path,
  answer,
});

/** An answer in pieces, as server-sent events. What fails after the first event is sent as an event too. */
export class EventAnswer {
  constructor(readonly events: AsyncIterable<string>) {}
}

/** An answer that is notified when it has been sent whole. */
export class WholeAnswer {
  constructor(
    readonly body: object,
    readonly sent: () => void,
  ) {}
}

export interface PageRequest {
  body: unknown;
  /** Of a PUT: what is sent, to be read by the page. */
  content: Readable;
  groups: Readonly<Record<string, string>>;
  /** What follows the question mark of its address. */
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  signal: AbortSignal;
}

export interface Shared {
  /** That the server listens on. */
  host: string;
  pages: readonly Page[];
  token?: string | undefined;
  mostRequests: number;
  /** Of a body; 64 MiB and a million values without it. */
  bodyBounds?: BodyBounds | undefined;
  stopped: AbortSignal;
  /** Those whose body has come: one that comes slowly takes nobody's place. */
  underWay: { count: number };
  arriving: Arriving;
  /** How long a caller may hear nothing, in ms: then a blank or a comment is sent. Without it callers just wait. */
  beatMs?: number | undefined;
  /** A refusal as the callers' protocol writes it. */
  errorBody: (refusal: Refusal) => object;
}

/** Answers one request; its status. Fails only where our own code does, after it has said so to the caller. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  shared: Shared,
): Promise<number> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client has disconnected')));
  const done = new AbortController();
  return underSignals([gone.signal, shared.stopped, done.signal], async (signal) => {
    const beat = heartbeat(response, shared.beatMs);
    try {
      const answer = await answered(request, signal, { ...shared, onStream: beat.events });
      if (answer instanceof WholeAnswer) response.once('finish', answer.sent);
      if (!(answer instanceof EventAnswer))
        return send(response, 200, answer instanceof WholeAnswer ? answer.body : answer);
      await sendEvents(response, answer.events, shared);
      return gone.signal.aborted ? 499 : 200;
    } catch (error) {
      if (gone.signal.aborted) return 499;
      if (error instanceof Refusal) {
        await readRest(request, signal, shared.arriving);
        return send(response, error.status, shared.errorBody(error));
      }
      if (!response.headersSent)
        send(response, 500, shared.errorBody(new Refusal(500, 'The server failed.')));
      throw error;
    } finally {
      beat.stop();
      // Of several answers to one request, one may have failed while others are still being made.
      done.abort(requestAnswered);
    }
  });
}

/** Lets a caller that waits hear something, before its own patience or that of something between ends. */
function heartbeat(response: ServerResponse, ms: number | undefined) {
  let isStream = false;
  const beat = (): void => {
    if (response.destroyed || response.writableEnded) return;
    if (!response.headersSent) response.writeHead(200, isStream ? eventHeaders : jsonHeaders);
    response.write(isStream ? ': waiting\n\n' : ' ');
  };
  const timer = ms === undefined ? undefined : setInterval(beat, ms);
  return { events: () => (isStream = true), stop: () => clearInterval(timer) };
}

const jsonHeaders = { 'content-type': 'application/json' };
const eventHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };

async function answered(
  request: IncomingMessage,
  signal: AbortSignal,
  shared: Shared & { onStream: () => void },
): Promise<object | EventAnswer> {
  const { pages, stopped, arriving, bodyBounds } = shared;
  stopped.throwIfAborted();
  admit(request, shared);
  const { pathname, searchParams: query } = addressOf(request);
  const there = pages.filter(({ path }) => path.test(pathname));
  const found = there.find(({ method }) => method === request.method);
  if (found === undefined) throw new Refusal(there.length > 0 ? 405 : 404, 'Not Found');
  const groups = found.path.exec(pathname)?.groups ?? {};
  refuseIfFull(shared);
  const body =
    found.method === 'POST'
      ? await abortable(readBody(request, arriving, bodyBounds), signal)
      : undefined;
  refuseIfFull(shared);
  shared.underWay.count += 1;
  let streams = false;
  try {
    if (isRecord(body) && body['stream'] === true) shared.onStream();
    const { headers } = request;
    const answer = await found.answer({ body, content: request, groups, query, headers, signal });
    if (!(answer instanceof EventAnswer)) return answer;
    streams = true;
    return new EventAnswer(counted(answer.events, shared));
  } finally {
    if (!streams) shared.underWay.count -= 1;
  }
}

/** What is read of a body that is refused, for how long, and how fast of all together: others need the processor. */
const [mostRestBytes, mostRestMs, restBytesPerMs] = [64 * 2 ** 20, 5000, 2 ** 16];

/** A body as long as this has been sent, whether it is read or not. */
const sentAnyway = 2 ** 16;

/** Reads what is left of a body, or the whole of a file: a caller that is cut off in the middle of it never reads why. */
async function readRest(
  request: IncomingMessage,
  signal: AbortSignal,
  arriving: Arriving,
): Promise<void> {
  if (request.complete || Number(request.headers['content-length']) <= sentAnyway) return;
  const enough = new AbortController();
  const isFile = request.method === 'PUT';
  const timer = isFile ? undefined : setTimeout(() => enough.abort(), mostRestMs);
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (isFile) return;
    if (bytes > mostRestBytes) enough.abort();
    const now = performance.now();
    arriving.restAt = Math.max(arriving.restAt ?? now, now) + piece.length / restBytesPerMs;
    request.pause();
    setTimeout(() => request.resume(), arriving.restAt - now);
  });
  try {
    await abortable(finished(request.resume(), { signal: enough.signal }), signal);
  } catch {
    // The caller has gone or sends more than is read: what matters is why it is refused.
  } finally {
    clearTimeout(timer);
  }
}

// A request is under way until the last of its events.
async function* counted(events: AsyncIterable<string>, { underWay }: Shared) {
  try {
    yield* events;
  } finally {
    underWay.count -= 1;
  }
}

/** @throws Refusal */
function refuseIfFull({ mostRequests, underWay }: Shared): void {
  if (underWay.count >= mostRequests) throw new Refusal(503, 'too many requests are waiting');
}

/** @throws Refusal */
function addressOf({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://server');
  } catch {
    // Node hands on whatever stands there, also what is not an address.
    throw new Refusal(
      400,
      `the address of the request is not valid, got ${JSON.stringify(url.slice(0, 80))}`,
    );
  }
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @throws Refusal of a caller that this server does not answer */
export function admit(
  request: IncomingMessage,
  { host, token }: Pick<Shared, 'host' | 'token'>,
): void {
  refuseStrangers(request, host);
  if (token !== undefined && !holdsToken(request, token))
    throw new Refusal(401, 'the token is missing or wrong');
}

/** Takes as long for a token that is nearly right. */
function holdsToken({ headers }: IncomingMessage, token: string): boolean {
  return timingSafeEqual(hash(headers.authorization ?? ''), hash(`Bearer ${token}`));
}

/** @throws what the events throw, after it was sent as an event */
async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<string>,
  { errorBody }: Shared,
): Promise<void> {
  if (!response.headersSent) response.writeHead(200, eventHeaders);
  try {
    for await (const data of events) {
      if (response.destroyed) return;
      response.write(`data: ${data}\n\n`);
    }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'The server failed.');
    if (!response.destroyed) response.write(`data: ${JSON.stringify(errorBody(refusal))}\n\n`);
    if (!response.destroyed && refusal !== error) throw error;
  } finally {
    response.end();
  }
}

function send(response: ServerResponse, status: number, body: object): number {
  const text = Buffer.from(JSON.stringify(body));
  // The status went out with the first blank.
  if (response.headersSent) {
    response.end(text);
    return status;
  }
  if (status === 503) response.setHeader('retry-after', '1');
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  // What is left of a body that was not read to its end would be taken for the next request.
  if (!response.req.complete) response.setHeader('connection', 'close');
  response.writeHead(status, { ...jsonHeaders, 'content-length': text.length });
  response.end(text);
  return status;
}
