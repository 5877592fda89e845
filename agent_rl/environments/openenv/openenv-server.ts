import { setTimeout as sleep } from 'node:timers/promises';

import { AgentRlError } from '../../core/errors.ts';
import { TransientError } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import type { PluginReport, ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { HttpClient } from '../../http/http-client.ts';
import { serverUrl } from '../../http/server-url.ts';
import { type Acting, actingOn } from './acting.ts';
import { connectMs, NoPlace, OpenEnvSession } from './session.ts';
import type { OpenEnvSettings } from './settings.ts';

/** Milliseconds until a server without a free session is asked again, unless one of ours ends before. */
const againMs = 1000;

/** A server of OpenEnv, as the episodes of a run share it. */
export class OpenEnvServer implements ToolShared {
  readonly #counts = { episodes: 0, waits: 0, unrewarded: 0 };
  readonly #open = new Set<OpenEnvSession>();
  /** Wake those who wait for a session, the first of them first. */
  readonly #waiting = new Set<AbortController>();

  private constructor(
    private readonly settings: OpenEnvSettings,
    private readonly key: string | undefined,
    private readonly host: ToolHost,
    /** How its environment is played. */
    readonly acting: Acting,
  ) {}

  /** @throws AgentRlError `CONFIG_INVALID` for a server that cannot be used; NoAnswer */
  static async open(settings: OpenEnvSettings, host: ToolHost): Promise<OpenEnvServer> {
    const { apiKeyEnv } = settings;
    const url = serverUrl(settings.url, 'environment.url', 'environment.apiKeyEnv');
    const { environment, warn = () => undefined } = host;
    const key =
      apiKeyEnv === undefined
        ? undefined
        : secretOf(apiKeyEnv, { user: 'environment.apiKeyEnv', environment });
    const at = { url, token: key, connections: 1 };
    const http = new HttpClient({ ...at, pauseMs: 200, onRetry: warn });
    try {
      const deadlineS = connectMs / 1000;
      const asked = { method: 'GET', path: '/schema', deadlineS, again: true } as const;
      const { status, json } = await http.send(asked);
      const action = isRecord(json) ? json['action'] : undefined;
      if (!isRecord(action))
        throw new AgentRlError(
          'CONFIG_INVALID',
          status === 401 || status === 403
            ? `${url}/schema answered with status ${status}: set apiKeyEnv to the variable with its key${key === undefined ? '' : '; this key was refused'}.`
            : `${url}/schema answered with status ${status} and no action schema. Set url to the address of an OpenEnv server.`,
        );
      const used = { ...settings, url };
      const ask = () => OpenEnvSession.open(used, key);
      return new OpenEnvServer(used, key, host, await actingOn(action, used, ask));
    } finally {
      await http.close();
    }
  }

  /** A session whose environment was reset, as soon as the server has one. @throws TransientError after `capacityS` */
  async begin(reset: object, signal: AbortSignal) {
    const { url, capacityS } = this.settings;
    const until = performance.now() + 1000 * capacityS;
    for (;;) {
      const session = await OpenEnvSession.open(this.settings, this.key, signal);
      this.#open.add(session);
      try {
        const first = await session.observe('reset', reset, signal);
        this.#counts.episodes += 1;
        return { session, first };
      } catch (thrown) {
        if (!(thrown instanceof NoPlace)) {
          void this.end(session);
          throw thrown;
        }
        // A refused session holds no place.
        this.#open.delete(session);
        void session.close();
        if (performance.now() >= until)
          throw new TransientError(
            `${url} had no free session for ${capacityS} s (environment.capacityS): ${thrown.message}`,
            { cause: thrown },
          );
        if (this.#counts.waits === 0)
          this.host.warn?.(`${url} has no free session; episodes wait up to ${capacityS} s.`);
        this.#counts.waits += 1;
        await this.#place(signal);
      }
    }
  }

  async end(session: OpenEnvSession): Promise<void> {
    this.#open.delete(session);
    await session.close();
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    first.abort();
  }

  /** Notes an episode that ended early, and none of whose steps had a reward. */
  unrewarded(): void {
    if (this.#counts.unrewarded === 0)
      this.host.warn?.(
        `${this.settings.url} gave no reward in any step of an episode; such episodes count as 0.`,
      );
    this.#counts.unrewarded += 1;
  }

  report(): PluginReport {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((session) => this.end(session)));
  }

  async #place(signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    this.#waiting.add(wake);
    await underSignals([signal, wake.signal], (either) =>
      sleep(againMs, undefined, { signal: either }).catch(() => undefined),
    );
    this.#waiting.delete(wake);
    signal.throwIfAborted();
  }
}
