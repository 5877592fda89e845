import { isDeepStrictEqual } from 'node:util';

import { secretOf } from '../../core/wire/secret-of.ts';
import { AgentRlError } from '../../core/errors.ts';
import type {
  RunResult,
  Sandbox,
  SandboxCapabilities,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { bareResult, resultWithoutOutput } from '../requests/result-without-output.ts';
import type { SandboxIncident } from '../incident.ts';
import { NoAnswer } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';
import { openServer, withRemedy } from './open-server.ts';
import { factsText, type RemoteServer } from './own-server.ts';
import { RemoteSession } from './remote-session.ts';
import type { SandboxServer } from './sandbox-server.ts';
import { SandboxPool } from './server-pool.ts';

export interface RemoteSandboxOptions {
  /** Address of a server, or of several equivalent servers. A trailing `/run_code` is removed. */
  url: string | readonly string[];
  /** Environment variable that holds the servers' token. */
  tokenEnv?: string;
  /** PEM file of certificate authorities to trust in addition to the usual ones. */
  caFile?: string;
  /** Most programs in progress on all servers together. */
  workers: number;
  /** Seconds an answer may take beyond its program's own limit. Default 60. */
  patienceS?: number;
  /** Milliseconds before the first retry; each later pause is twice as long. Default 250. */
  pauseMs?: number;
  /** Seconds between health checks of each server, when there are several. Default 10. */
  checkS?: number;
  onIncident?: (incident: SandboxIncident) => void;
}

const defaultPatienceS = 60;
const defaultCheckS = 10;

/**
 * Runs programs on servers. A server of this package can do everything a sandbox can. A server that supports SandboxFusion's
 * `POST /run_code` can neither judge by statements nor keep sessions, and takes no seed.
 *
 * A server that gives no answer, or a malformed one, leads to `sandbox_error`, never to a verdict. Requests that change
 * nothing are retried after 429, 502, 503, 504 and a lost connection, and then sent to another server if there is one; each
 * retry is reported as an incident. A session stays on its server and ends with it.
 */
export class RemoteSandbox implements Sandbox {
  private constructor(
    private readonly pool: SandboxPool,
    private readonly options: Pick<RemoteSandboxOptions, 'workers'> & {
      onIncident: (incident: SandboxIncident) => void;
    },
  ) {}

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
  static async start(options: RemoteSandboxOptions): Promise<RemoteSandbox> {
    const { workers, checkS = defaultCheckS, onIncident = () => undefined } = options;
    const urls = addressesOf(options.url);
    const connection = connectionOf({ ...options, onIncident });
    const starts = await Promise.allSettled(
      urls.map((url) => openServer({ ...connection, url }, options.patienceS ?? defaultPatienceS)),
    );
    const opened = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    try {
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
      requireSameServers(opened);
    } catch (error) {
      await Promise.all(opened.map(({ http }) => http.close()));
      throw error;
    }
    const pool = new SandboxPool(opened, checkS, onIncident);
    return new RemoteSandbox(pool, { workers, onIncident });
  }

  readonly execute: Sandbox['execute'] = (request, signal) =>
    this.#orFailed(
      () =>
        this.pool.anywhere('programs', (server) =>
          server.ask((either) => server.server.execute(request, either), signal),
        ),
      (result) => bareResult(request.kind, result),
    );

  openSession(request: SessionRequest = {}): SandboxSession {
    const session = new RemoteSession(this.pool, request);
    return {
      run: (program, signal) =>
        this.#orFailed(
          () => session.run(program, signal),
          (result) => ({ ...result, alive: false }),
        ),
      close: () => this.#closeSession(session),
    };
  }

  capabilities(): SandboxCapabilities {
    return { backend: 'remote', ...this.#facts, concurrency: this.options.workers };
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  /** Facts of the first server, which all servers share. */
  get #facts(): RemoteServer['facts'] {
    return this.pool.servers[0]!.server.facts;
  }

  /** Does not throw when the server is gone: the caller already has the session's results. */
  async #closeSession(session: SandboxSession): Promise<void> {
    try {
      await session.close();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      const message = `A session could not be closed; the server will end it after a while without requests: ${error.message}`;
      this.options.onIncident({ kind: 'left', message });
    }
  }

  /** The server's answer, or `sandbox_error` without one. @throws the reason of an aborted signal */
  async #orFailed<Result>(
    ask: () => Promise<Result>,
    failed: (result: RunResult) => Result,
  ): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      const message = withRemedy(error.message);
      return failed(resultWithoutOutput('sandbox_error', message, this.#facts.level));
    }
  }
}

/** @throws AgentRlError `CONFIG_INVALID` for an invalid address and for an address given twice */
function addressesOf(given: RemoteSandboxOptions['url']): readonly string[] {
  const urls = [given]
    .flat()
    .map((url) => serverUrl(url, 'sandbox.url', 'sandbox.tokenEnv').replace(/\/run_code$/, ''));
  const twice = urls.find((url, at) => urls.indexOf(url) < at);
  if (twice === undefined && urls.length > 0) return urls;
  const problem =
    twice === undefined
      ? 'is empty. Give the address of a server.'
      : `lists ${twice} twice. List each server once.`;
  throw new AgentRlError('CONFIG_INVALID', `sandbox.url ${problem}`);
}

/** Options of the connection to each server. @throws AgentRlError `CONFIG_INVALID` for a token that is not set */
function connectionOf({
  workers,
  tokenEnv,
  caFile,
  pauseMs = 250,
  onIncident,
}: RemoteSandboxOptions & { onIncident: (incident: SandboxIncident) => void }) {
  return {
    // Two more for health checks.
    connections: workers + 2,
    pauseMs,
    caFile,
    token: tokenEnv && secretOf(tokenEnv, { user: 'The sandbox server', fewestChars: 8 }),
    onRetry: (message: string) => onIncident({ kind: 'retry', message }),
  };
}

/**
 * Refuses servers that differ: a program's result would depend on the server that happened to run it.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, naming each server that differs from the first
 */
function requireSameServers([first, ...others]: readonly SandboxServer[]): void {
  const different = others.filter(
    ({ server }) => !isDeepStrictEqual(server.facts, first?.server.facts),
  );
  if (first === undefined || different.length === 0) return;
  const each = [first, ...different].map(
    ({ url, server }) => `${url} is ${factsText(server.facts)}`,
  );
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The servers of sandbox.url differ: ${each.join('; ')}. A program must give the same result on every server: start all of them with the same --type, --python and --preload, on machines with the same protections.`,
  );
}
