import { isDeepStrictEqual } from 'node:util';

import { secretOf } from '../../core/secret-of.ts';
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
  /** Of a server for `POST /run_code`, without that path, or of several that are alike. */
  url: string | readonly string[];
  /** Environment variable that holds the token of the servers. */
  tokenEnv?: string;
  /** PEM file of authorities trusted besides the usual ones. */
  caFile?: string;
  /** Most programs requested at once, of all servers together. */
  workers: number;
  /** Seconds an answer may take beyond the limit of its program. Default 60. */
  patienceS?: number;
  /** Milliseconds before a request is made again. Default 250, then twice as long each time. */
  pauseMs?: number;
  /** Seconds between looks at each of several servers. Default 10. */
  checkS?: number;
  onIncident?: (incident: SandboxIncident) => void;
}

const defaultPatienceS = 60;
const defaultCheckS = 10;

/**
 * Programs run by servers: each one of this package, which can all a sandbox can, or one that speaks SandboxFusion's
 * `POST /run_code`, which can neither judge by statements nor keep sessions, and takes no seed.
 *
 * A server that does not answer, or with what cannot be understood, gives `sandbox_error`, never a verdict. Requests that
 * change nothing are made again after 429, 502, 503, 504 and a lost connection, and then on another server where there are
 * several; each is reported as an incident. A session stays on its server and ends with it.
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

  /** Of the first server, and so of all. */
  get #facts(): RemoteServer['facts'] {
    return this.pool.servers[0]!.server.facts;
  }

  /** Whoever closes a session has its results already: a server that is gone costs none of them. */
  async #closeSession(session: SandboxSession): Promise<void> {
    try {
      await session.close();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      const message = `A session could not be closed; its server ends it once it has idled: ${error.message}`;
      this.options.onIncident({ kind: 'left', message });
    }
  }

  /** What the server answers, or a failure of ours where it does not. @throws what an aborted signal throws */
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

/** @throws AgentRlError `CONFIG_INVALID` for what is no address, and one that is named twice */
function addressesOf(given: RemoteSandboxOptions['url']): readonly string[] {
  const urls = [given]
    .flat()
    .map((url) => serverUrl(url, 'sandbox.url', 'sandbox.tokenEnv').replace(/\/run_code$/, ''));
  const twice = urls.find((url, at) => urls.indexOf(url) < at);
  if (twice === undefined && urls.length > 0) return urls;
  const problem = twice === undefined ? 'names no server' : `names ${twice} twice`;
  throw new AgentRlError('CONFIG_INVALID', `sandbox.url ${problem}. Name each server once.`);
}

/** How each server is spoken to. @throws AgentRlError `CONFIG_INVALID` for a token that is not set */
function connectionOf({
  workers,
  tokenEnv,
  caFile,
  pauseMs = 250,
  onIncident,
}: RemoteSandboxOptions & { onIncident: (incident: SandboxIncident) => void }) {
  return {
    // Two more, for looks at whether it is there.
    connections: workers + 2,
    pauseMs,
    caFile,
    token: tokenEnv && secretOf(tokenEnv, { user: "The sandbox's server", fewestChars: 8 }),
    onRetry: (message: string) => onIncident({ kind: 'retry', message }),
  };
}

/**
 * Refuses servers that are not alike: what a program gives would depend on which of them happened to run it.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, naming each server that differs from the first, and how
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
    `The servers of sandbox.url differ: ${each.join('; ')}. What a program gives must not depend on the server that runs it: start all of them with the same --type, --python and --preload on machines that allow the same.`,
  );
}
