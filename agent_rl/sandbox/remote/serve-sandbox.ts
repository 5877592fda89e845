import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { checkRequests } from '../layers/check-requests.ts';
import { layered } from '../layers/layer.ts';
import { answerRequest } from './answer-request.ts';
import { Refusal } from './refusal.ts';
import { ServedSessions } from './served-sessions.ts';
import { sandboxPages } from './sandbox-pages.ts';

export interface ServeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** What callers have to show; without one, anybody who reaches the port may run programs. */
  token?: string;
  /** Requests under way and waiting; those beyond are asked to come back later. Default 256. */
  mostRequests?: number;
  /** Notified of each request that failed by our fault. */
  onFailure?: (message: string) => void;
}

/** Answers so far, by their status. */
export type ServedCounts = Readonly<Record<string, number>>;

export interface SandboxServer {
  /** `http://127.0.0.1:8080` */
  url: string;
  counts: ServedCounts;
  /** Ends the programs under way. The sandbox stays open. */
  close(): Promise<void>;
}

const defaultMostRequests = 256;
/** A request has to come whole within this. */
const requestTimeoutMs = 60_000;
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Lets others run programs in a sandbox of this machine: by this package's remote sandbox, and by whoever speaks
 * SandboxFusion's `POST /run_code`.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a server that others reach without a token, `SANDBOX_UNAVAILABLE` when the port
 *   is not available
 */
export async function serveSandbox(
  sandbox: Sandbox,
  options: ServeOptions,
): Promise<SandboxServer> {
  const { host, port, token, onFailure = () => undefined } = options;
  if (token === undefined && !loopback.has(host)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `A sandbox served on ${host} runs programs of anybody who reaches it. Give --token-env, or --host 127.0.0.1.`,
    );
  }
  const counts: Record<string, number> = {};
  const stop = new AbortController();
  const checked = layered(sandbox, [checkRequests(sandbox.capabilities().level)]);
  const sessions = new ServedSessions(checked);
  const pages = sandboxPages(checked, sessions);
  const { mostRequests = defaultMostRequests } = options;
  const shared = {
    pages,
    token,
    mostRequests,
    stopped: stop.signal,
    underWay: { count: 0 },
    arriving: { bytes: 0 },
  };
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    void answerRequest(request, response, shared).then(
      (status) => (counts[status] = (counts[status] ?? 0) + 1),
      (error: unknown) => onFailure(messageOf(error)),
    );
  });
  await listen(server, host, port);
  return {
    url: urlOf(server),
    counts,
    close: async () => {
      stop.abort(new Refusal(503, 'the server is closing'));
      await sessions.close();
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new AgentRlError(
      'SANDBOX_UNAVAILABLE',
      `The sandbox cannot be served on ${host}:${port}: ${messageOf(cause)}. Name another with ${flagOf(cause)}.`,
      { cause },
    );
  }
}

/** Which flag would mend it: an address that is not this machine's and a name that means none are not a matter of ports. */
function flagOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(String(code))
    ? '--host'
    : '--port';
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
