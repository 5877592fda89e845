import { createServer, type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

import type { Duplex } from 'node:stream';

import { messageOf } from '../core/errors.ts';
import { admit, answerRequest, type Shared } from './answer-request.ts';
import type { Certificate } from './authorities.ts';
import { closeServer, listen, type ListenOptions, urlOf } from './listen.ts';
import { Refusal } from './refusal.ts';

export interface ServePagesOptions
  extends Omit<Shared, 'stopped' | 'underWay' | 'arriving'>, ListenOptions {
  /** Serves `https:` with it. */
  certificate?: Certificate | undefined;
  /** A request has to come whole within this. */
  requestTimeoutMs: number;
  /** How long a connection without a request is kept, in ms; Node's own by default. */
  keepAliveMs?: number | undefined;
  /** Notified of each request that failed by our fault. */
  onFailure: (message: string) => void;
  /** Takes over connections at a path, as WebSockets. */
  upgrade?: { path: string; take: TakesOver } | undefined;
}

type TakesOver = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface PagesServer {
  /** `http://127.0.0.1:8080` */
  url: string;
  /** Answers so far, by their status. */
  counts: Readonly<Record<string, number>>;
  /** Refuses what is under way, and waits for its end. */
  close(): Promise<void>;
}

/** Serves pages until it is closed. @throws AgentRlError when the address or the port is not available */
export async function servePages(options: ServePagesOptions): Promise<PagesServer> {
  const { certificate, requestTimeoutMs: requestTimeout, onFailure } = options;
  const counts: Record<string, number> = {};
  const stop = new AbortController();
  const shared = {
    ...options,
    stopped: stop.signal,
    underWay: { count: 0 },
    arriving: { bytes: 0 },
  };
  const answer: RequestListener = (request, response) => {
    void answerRequest(request, response, shared).then(
      (status) => (counts[status] = (counts[status] ?? 0) + 1),
      (error: unknown) => onFailure(messageOf(error)),
    );
  };
  const server =
    certificate === undefined
      ? createServer({ requestTimeout }, answer)
      : createSecureServer({ requestTimeout, ...certificate }, answer);
  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs;
  const { upgrade } = options;
  if (upgrade !== undefined)
    server.on('upgrade', (request, socket, head) => {
      // Node leaves the errors of such a connection to the one that takes it.
      socket.on('error', () => socket.destroy());
      try {
        stop.signal.throwIfAborted();
        admit(request, options);
        if (new URL(request.url ?? '/', 'http://server').pathname !== upgrade.path)
          throw new Refusal(404, 'Not Found');
        upgrade.take(request, socket, head);
      } catch (error) {
        const status = error instanceof Refusal ? error.status : 400;
        socket.once('finish', () => socket.destroy());
        socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n\r\n`);
      }
    });
  await listen(server, options);
  return {
    url: urlOf(server),
    counts,
    close: async () => {
      stop.abort(new Refusal(503, 'The server is closing.'));
      await closeServer(server);
    },
  };
}
