import { AgentRlError } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { secretOf } from '../core/wire/secret-of.ts';
import { HttpClient } from '../http/http-client.ts';
import { serverUrl } from '../http/server-url.ts';
import { Lost, TinkerClient, type TinkerClientOptions } from './tinker-client.ts';
import type { TinkerSettings } from './tinker-settings.ts';

export interface SessionUser extends Pick<TinkerClientOptions, 'code' | 'warn'> {
  /** Block of the run file, for messages. */
  block: 'learner' | 'generator';
  environment: Readonly<Record<string, string | undefined>>;
  /** Most requests at once. */
  requests: number;
  signal: AbortSignal;
}

/** Version of the Python package whose messages these are. */
const sdkVersion = '0.25.0';
const heartbeatMs = 10_000;
/** A large adapter comes in one answer; any other is short. */
const mostFileBytes = 2 ** 31;

/** A session at a Tinker service, kept alive by a heartbeat until it is closed. */
export class TinkerSession {
  #id = '';
  #heartbeat: NodeJS.Timeout | undefined;
  #isUneasy = false;

  private constructor(
    readonly client: TinkerClient,
    /** As the service names it. */
    readonly baseModel: string,
  ) {}

  /** @throws AgentRlError `CONFIG_INVALID` for a service that cannot be asked, or has not the model */
  static async open(settings: TinkerSettings, user: SessionUser): Promise<TinkerSession> {
    const { block, environment, requests, warn, code, signal } = user;
    const { apiKeyEnv, deadlineS, patienceS } = settings;
    const url = serverUrl(settings.url, `${block}.url`, `${block}.apiKeyEnv`);
    const key = apiKeyEnv && secretOf(apiKeyEnv, { user: `${block} tinker`, environment });
    const shared = {
      url,
      headers: key === undefined ? undefined : { 'x-api-key': key },
      pauseMs: 200,
      onRetry: warn,
    };
    // Questions for results are held open; the heartbeat has one of its own.
    const http = new HttpClient({ ...shared, connections: requests + 2 });
    const files = new HttpClient({ ...shared, connections: 1, mostAnswerBytes: mostFileBytes });
    const client = new TinkerClient({ http, files, url, deadlineS, patienceS, warn, code });
    return orClosed(block, client, async () => {
      const offered = await modelsOf(client, signal);
      const session = new TinkerSession(client, chosen(offered, settings.model, block));
      await session.renew(signal);
      return session;
    });
  }

  get id(): string {
    return this.#id;
  }

  /** Begins another, as with a service that was started anew. */
  async renew(signal?: AbortSignal): Promise<void> {
    const body = { type: 'create_session', tags: ['agent_rl'], sdk_version: sdkVersion };
    const request = { method: 'POST', path: 'create_session', body, again: true } as const;
    const { session_id: id } = await this.client.ask(request, signal);
    if (typeof id !== 'string') throw this.client.failure('returned no id for a new session');
    this.#id = id;
    this.#heartbeat ??= setInterval(() => void this.#beat(), heartbeatMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.client.close();
  }

  async #beat(): Promise<void> {
    const body = { session_id: this.#id, type: 'session_heartbeat' };
    try {
      await this.client.ask({ method: 'POST', path: 'session_heartbeat', body, again: false });
      this.#isUneasy = false;
    } catch (thrown) {
      // What needs the session fails by itself where it is gone; one line says why.
      if (!this.#isUneasy) this.client.warn(`The session's heartbeat failed: ${String(thrown)}`);
      this.#isUneasy = true;
    }
  }
}

/**
 * Opens something over what is open already, which is closed where that fails. A service that is lost meanwhile does not suit the
 * run.
 */
export async function orClosed<Result>(
  block: SessionUser['block'],
  opened: { close(): Promise<void> },
  open: () => Promise<Result>,
): Promise<Result> {
  try {
    return await open();
  } catch (cause) {
    await opened.close();
    if (!(cause instanceof Lost)) throw cause;
    throw new AgentRlError('CONFIG_INVALID', `${block}.url: ${cause.message}`, { cause });
  }
}

async function modelsOf(client: TinkerClient, signal: AbortSignal): Promise<readonly string[]> {
  const request = { method: 'GET', path: 'get_server_capabilities', again: true } as const;
  const { supported_models: models } = await client.ask(request, signal);
  const names = Array.isArray(models)
    ? models.map((one: unknown) => (isRecord(one) ? one['model_name'] : undefined))
    : [];
  return names.filter((name) => typeof name === 'string');
}

function chosen(offered: readonly string[], asked: string | undefined, block: string): string {
  const [only] = offered;
  if (asked === undefined && only !== undefined && offered.length === 1) return only;
  if (asked !== undefined && offered.includes(asked)) return asked;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${block}.model ${asked === undefined ? 'is required' : `"${asked}" does not exist`}: the service has ${offered.slice(0, 40).join(', ') || 'no models'}. Set ${block}.model to the name that the service uses for the model in model.path.`,
  );
}
