import { secretOf } from '../../core/secret-of.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  RunResult,
  Sandbox,
  SandboxCapabilities,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { bareResult, resultWithoutOutput } from '../requests/result-without-output.ts';
import type { SandboxIncident } from '../incident.ts';
import { FusionServer } from './fusion-server.ts';
import { HttpClient, NoAnswer } from '../../http/http-client.ts';
import { OwnServer, type RemoteServer } from './own-server.ts';
import { CapabilitiesAnswer, check, protocolVersion } from './protocol.ts';
import { serverUrl } from '../../http/server-url.ts';

export interface RemoteSandboxOptions {
  /** Of a server for `POST /run_code`, without that path. */
  url: string;
  /** Environment variable that holds the server's token. */
  tokenEnv?: string;
  /** Most programs requested at once. */
  workers: number;
  /** Seconds an answer may take beyond the limit of its program. Default 60. */
  patienceS?: number;
  /** Milliseconds before a request is made again. Default 250, then twice as long each time. */
  pauseMs?: number;
  onIncident?: (incident: SandboxIncident) => void;
}

/** Statuses by which a server says that it has no such page. */
const unknownPage: ReadonlySet<number> = new Set([404, 405]);
const defaultPatienceS = 60;

/**
 * Programs run by a server: one of this package, which can all a sandbox can, or one that speaks SandboxFusion's
 * `POST /run_code`, which can neither judge by statements nor keep sessions, and takes no seed.
 *
 * A server that does not answer, or with what cannot be understood, gives `sandbox_error`, never a verdict. Requests that
 * change nothing are made again after 429, 502, 503, 504 and a lost connection; each is reported as an incident.
 */
export class RemoteSandbox implements Sandbox {
  private constructor(
    private readonly http: HttpClient,
    private readonly server: RemoteServer,
    private readonly options: Pick<RemoteSandboxOptions, 'url' | 'workers'> & {
      onIncident: (incident: SandboxIncident) => void;
    },
  ) {}

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
  static async start(options: RemoteSandboxOptions): Promise<RemoteSandbox> {
    const { workers, tokenEnv, patienceS = defaultPatienceS, pauseMs = 250 } = options;
    const { onIncident = () => undefined } = options;
    const url = serverUrl(options.url, 'sandbox.url', 'sandbox.tokenEnv').replace(
      /\/run_code$/,
      '',
    );
    const http = new HttpClient({
      url,
      connections: workers,
      pauseMs,
      ...(tokenEnv !== undefined && {
        token: secretOf(tokenEnv, { user: "The sandbox's server", fewestChars: 8 }),
      }),
      onRetry: (message) => onIncident({ kind: 'retry', message }),
    });
    try {
      const server = await detect(http, url, patienceS);
      return new RemoteSandbox(http, server, { url, workers, onIncident });
    } catch (error) {
      await http.close();
      if (AgentRlError.is(error)) throw error;
      throw unavailable(`The sandbox's server: ${withRemedy(url, messageOf(error))}`, error);
    }
  }

  readonly execute: Sandbox['execute'] = (request, signal) =>
    this.#orFailed(
      () => this.server.execute(request, signal),
      (result) => bareResult(request.kind, result),
    );

  openSession(request?: SessionRequest): SandboxSession {
    const session = this.server.openSession(request);
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
    return { backend: 'remote', ...this.server.facts, concurrency: this.options.workers };
  }

  close(): Promise<void> {
    return this.http.close();
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
      const message = withRemedy(this.options.url, error.message);
      return failed(resultWithoutOutput('sandbox_error', message, this.server.facts.level));
    }
  }
}

const unavailable = (message: string, cause?: unknown): AgentRlError =>
  new AgentRlError('SANDBOX_UNAVAILABLE', message, { cause });

/** What a failed request leaves to do, with the address once. */
const withRemedy = (url: string, message: string): string =>
  `${message.includes(url) ? '' : `${url}: `}${message.replace(/\.$/, '')}. See that \`agent-rl sandbox serve\` or another server runs at sandbox.url and can be reached from here.`;

/** Which kind of server answers. @throws AgentRlError `SANDBOX_UNAVAILABLE`, NoAnswer */
async function detect(http: HttpClient, url: string, patienceS: number): Promise<RemoteServer> {
  const request = { method: 'GET', path: '/capabilities', deadlineS: patienceS } as const;
  const { status, json, text } = await http.send({ ...request, again: true });
  if (unknownPage.has(status)) return FusionServer.open(http, patienceS);
  if (status === 401 || status === 403) {
    throw unavailable(
      `The sandbox's server ${url} refuses the token (${status}). Set sandbox.tokenEnv to the variable that holds the one it was started with.`,
    );
  }
  const checked = check(CapabilitiesAnswer, json);
  if (status !== 200 || 'problems' in checked) {
    throw unavailable(
      `The sandbox's server ${url} answers GET /capabilities with ${status} and nothing known: ${text.slice(0, 200)}. Set sandbox.url to the address of \`agent-rl sandbox serve\` or of another server for POST /run_code.`,
    );
  }
  if (checked.value.protocol !== protocolVersion) {
    throw unavailable(
      `The sandbox's server ${url} speaks version ${checked.value.protocol} of the protocol, this package version ${protocolVersion}. Use the same version of agent_rl on both sides.`,
    );
  }
  return new OwnServer(http, checked.value, patienceS);
}
