import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { checkRequests } from '../layers/check-requests.ts';
import { layered } from '../layers/layer.ts';
import { answerRequest } from '../../http/answer-request.ts';
import type { Certificate } from '../../http/certificate.ts';
import { closeServer, listen, loopback, urlOf } from '../../http/listen.ts';
import { Refusal } from '../../http/refusal.ts';
import { ServedSessions } from './served-sessions.ts';
import { sandboxPages } from './sandbox-pages.ts';

export interface ServeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** What callers have to show; without one, anybody who reaches the port may run programs. */
  token?: string;
  /** Serves `https:` with it. */
  certificate?: Certificate;
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
  const { host, port, token, certificate, onFailure = () => undefined } = options;
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
    host,
    pages,
    token,
    mostRequests,
    stopped: stop.signal,
    underWay: { count: 0 },
    arriving: { bytes: 0 },
    errorBody: detailOf,
  };
  const answer: RequestListener = (request, response) => {
    void answerRequest(request, response, shared).then(
      (status) => (counts[status] = (counts[status] ?? 0) + 1),
      (error: unknown) => onFailure(messageOf(error)),
    );
  };
  const limits = { requestTimeout: requestTimeoutMs };
  const server =
    certificate === undefined
      ? createServer(limits, answer)
      : createSecureServer({ ...limits, ...certificate }, answer);
  await listen(server, { host, port, code: 'SANDBOX_UNAVAILABLE', what: 'The sandbox' });
  return {
    url: urlOf(server),
    counts,
    close: async () => {
      stop.abort(new Refusal(503, 'the server is closing'));
      await sessions.close();
      await closeServer(server);
    },
  };
}

/** As FastAPI writes it, which SandboxFusion is made with. */
function detailOf({ message, problems }: Refusal): object {
  if (problems.length === 0) return { detail: message };
  return {
    detail: problems.map((problem) => ({
      type: 'value_error',
      loc: ['body', ...problem.path],
      msg: problem.message,
    })),
  };
}
