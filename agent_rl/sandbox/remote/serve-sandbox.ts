import { AgentRlError } from '../../core/errors.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { checkRequests } from '../layers/check-requests.ts';
import { layered } from '../layers/layer.ts';
import type { Certificate } from '../../http/authorities.ts';
import { loopback } from '../../http/listen.ts';
import type { Refusal } from '../../http/refusal.ts';
import { type PagesServer, servePages } from '../../http/serve-pages.ts';
import { ServedSessions } from './served-sessions.ts';
import { sandboxPages } from './sandbox-pages.ts';

export interface ServeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Token that callers must send; without it, anyone who can reach the port may run programs. */
  token?: string;
  /** Serves `https:` with it. */
  certificate?: Certificate;
  /** Most requests in progress and waiting; further callers get 503 and retry later. Default 256. */
  mostRequests?: number;
  /** Notified of each request that failed through a fault of the server. */
  onFailure?: (message: string) => void;
}

const defaultMostRequests = 256;
/** A request must arrive completely within this time. */
const requestTimeoutMs = 60_000;

/**
 * Lets other machines run programs in a sandbox of this machine, through this package's remote sandbox or SandboxFusion's
 * `POST /run_code`. Closing the server ends the programs in progress; the sandbox stays open.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a server that other machines can reach without a token, `SANDBOX_UNAVAILABLE`
 *   when the port is not available
 */
export async function serveSandbox(sandbox: Sandbox, options: ServeOptions): Promise<PagesServer> {
  const { host, port, token, certificate, onFailure = () => undefined } = options;
  if (token === undefined && !loopback.has(host)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `A sandbox served on ${host} runs programs for anyone who can reach it. Set a token with --token-env, or use --host 127.0.0.1.`,
    );
  }
  const checked = layered(sandbox, [checkRequests(sandbox.capabilities().level)]);
  const sessions = new ServedSessions(checked);
  const server = await servePages({
    host,
    port,
    code: 'SANDBOX_UNAVAILABLE',
    what: 'The sandbox',
    pages: sandboxPages(checked, sessions),
    token,
    certificate,
    mostRequests: options.mostRequests ?? defaultMostRequests,
    requestTimeoutMs,
    errorBody: detailOf,
    onFailure,
  });
  const close = async (): Promise<void> => {
    await Promise.all([server.close(), sessions.close()]);
  };
  return { ...server, close };
}

/** The format of FastAPI, which SandboxFusion is built on. */
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
