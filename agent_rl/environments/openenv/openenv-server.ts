import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { PluginReport, ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import { abortable } from '../../core/stopping/abort.ts';
import { notTimed } from '../../core/stopping/work-clock.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { HttpClient } from '../../http/http-client.ts';
import { type Acting, actingOn } from './acting.ts';
import { connectMs, NoPlace, OpenEnvSession } from './session.ts';
import type { OpenEnvSettings } from './settings.ts';

/** Milliseconds until a server without a free session is asked again, unless one of ours ends. */
const againMs = 1000;

const keyOf = ({ apiKeyEnv }: OpenEnvSettings, { environment }: ToolHost): string | undefined =>
  apiKeyEnv === undefined
    ? undefined
    : secretOf(apiKeyEnv, { user: 'environment.apiKeyEnv', environment });

/** A server of OpenEnv, as the episodes of a run share it. */
export class OpenEnvServer implements ToolShared {
  readonly #counts = { episodes: 0, waits: 0, refusedActions: 0 };
  readonly #open = new Set<OpenEnvSession>();
  /** Wake who waits for a session, the first first. */
  #waiting: (() => void)[] = [];
  #hasWarned = false;

  private constructor(
    private readonly settings: OpenEnvSettings,
    private readonly host: ToolHost,
    /** How its environment is played. */
    readonly acting: Acting,
  ) {}

  /** @throws AgentRlError `CONFIG_INVALID` for a server that cannot be used */
  static async open(settings: OpenEnvSettings, host: ToolHost): Promise<OpenEnvServer> {
    const { url } = settings;
    const token = keyOf(settings, host);
    const onRetry = (text: string): void => host.warn?.(text);
    const http = new HttpClient({
      url: url.replace(/\/$/, ''),
      token,
      connections: 1,
      pauseMs: 200,
      onRetry,
    });
    try {
      const asked = {
        method: 'GET',
        path: '/schema',
        deadlineS: connectMs / 1000,
        again: true,
      } as const;
      const { status, json } = await http.send(asked);
      const action: unknown = isRecord(json) ? json['action'] : undefined;
      if (status !== 200 || !isRecord(action))
        throw new AgentRlError(
          'CONFIG_INVALID',
          `${url}/schema answered with status ${status}${status === 200 ? ' and no action schema' : ''}. Set url to the address of an OpenEnv server, and apiKeyEnv if it wants a key.`,
        );
      const probe = () => OpenEnvSession.open(settings, token, new AbortController().signal);
      return new OpenEnvServer(settings, host, await actingOn(action, settings, probe));
    } finally {
      await http.close();
    }
  }

  /** A session whose environment was reset, as soon as the server has one. @throws TransientError after `capacityS` */
  async begin(reset: object, signal: AbortSignal) {
    const { settings, host } = this;
    const token = keyOf(settings, host);
    const until = performance.now() + 1000 * settings.capacityS;
    for (;;) {
      const session = await OpenEnvSession.open(settings, token, signal);
      this.#open.add(session);
      try {
        const first = await session.observe('reset', reset, signal);
        this.#counts.episodes += 1;
        return { session, first };
      } catch (thrown) {
        this.#open.delete(session);
        session.close();
        if (!(thrown instanceof NoPlace)) throw thrown;
        await this.#place(thrown, { until, signal });
      }
    }
  }

  end(session: OpenEnvSession): void {
    if (!this.#open.delete(session)) return;
    session.close();
    this.#waiting.shift()?.();
  }

  /** Notes an action that the server refused. */
  refused(): void {
    this.#counts.refusedActions += 1;
  }

  report(): PluginReport {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    for (const session of this.#open) this.end(session);
  }

  /** Waits, which costs the episode none of its time. */
  async #place(why: NoPlace, { until, signal }: { until: number; signal: AbortSignal }) {
    const { url, capacityS } = this.settings;
    if (performance.now() >= until) {
      const error = `${url} had no free session for ${capacityS} s (capacityS): ${why.message}`;
      throw new AgentRlError('GENERATION_FAILED', error);
    }
    this.#counts.waits += 1;
    if (!this.#hasWarned)
      this.host.warn?.(`${url} has no free session; episodes wait up to ${capacityS} s.`);
    this.#hasWarned = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wake: (() => void) | undefined;
    const place = new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.push(resolve);
      timer = setTimeout(resolve, againMs);
    });
    try {
      await notTimed(() => abortable(place, signal));
    } finally {
      clearTimeout(timer);
      this.#waiting = this.#waiting.filter((one) => one !== wake);
    }
  }
}
