import { setImmediate } from 'node:timers/promises';

import type { PluginReport, ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import { Cassette } from '../../search/web/cassette/cassette.ts';
import { isRecord } from '../../core/is-record.ts';
import { McpConnection } from './mcp-connection.ts';
import { type Isolation, isolationOf, type McpSettings } from './settings.ts';

/** What the calls of a session of the run came to; failures by kind. */
const counted = ['calls', 'errors', 'timeout', 'network', 'too-large', 'bad-response', 'unread'];

/** The connections to a server: one for all episodes, or one for each, of which the next are opened ahead. */
export class McpPool implements ToolShared {
  readonly isolation: Isolation;
  readonly cassette: Cassette | undefined;
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<McpConnection>();
  #ahead: Promise<McpConnection>[] = [];
  #toolChanges = 0;
  readonly #closed = new AbortController();

  /** @throws AgentRlError `CASSETTE_INVALID`, `CASSETTE_MISS` */
  constructor(
    private readonly settings: McpSettings,
    private readonly host: ToolHost,
  ) {
    this.isolation = isolationOf(settings);
    this.cassette = cassetteOf(settings);
    if (settings.cassette?.mode !== 'replay' && this.isolation !== 'shared') this.#openAhead();
  }

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  /** A connection for an episode. @throws as `McpConnection.open` */
  async take(): Promise<McpConnection> {
    if (this.isolation === 'shared') return this.#shared();
    const ahead = this.#ahead.shift();
    this.#openAhead();
    // One that was opened ahead may have ended, or a server that was away then may be back.
    const connection = await ahead?.catch(() => undefined);
    return connection === undefined || connection.hasEnded ? this.#opened() : connection;
  }

  /** The episode is over. */
  async giveBack(connection: McpConnection): Promise<void> {
    if (this.isolation !== 'shared') await this.#close(connection);
  }

  report(): PluginReport {
    const changes = [...this.#open].reduce((sum, one) => sum + one.toolChanges, this.#toolChanges);
    const counts = counted.map((what): [string, number] => [what, this.#counts.get(what) ?? 0]);
    return { ...Object.fromEntries(counts), toolChanges: changes };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled(this.#ahead);
    await Promise.allSettled([...this.#open].map((one) => this.#close(one)));
  }

  async #shared(): Promise<McpConnection> {
    const [first] = this.#ahead;
    const connection = await first?.catch(() => undefined);
    if (connection?.hasEnded === false) return connection;
    // Others may have opened it meanwhile.
    if (this.#ahead[0] === first) this.#ahead = [this.#opened()];
    return this.#ahead[0]!;
  }

  #openAhead(): void {
    while (!this.#closed.signal.aborted && this.#ahead.length < this.settings.warm) {
      // What is under way comes first.
      const opening = setImmediate().then(() => this.#opened());
      // Where it fails, it is opened again when it is taken.
      opening.catch(() => undefined);
      this.#ahead.push(opening);
    }
  }

  async #opened(): Promise<McpConnection> {
    const { signal } = this.#closed;
    signal.throwIfAborted();
    const connection = await McpConnection.open(this.settings, this.host, signal);
    this.#open.add(connection);
    return connection;
  }

  async #close(connection: McpConnection): Promise<void> {
    this.#open.delete(connection);
    this.#toolChanges += connection.toolChanges;
    await connection.close();
  }
}

/** The cassette of a server; undefined where nothing is recorded. Answers come to it without secrets. */
export function cassetteOf({ name, cassette }: McpSettings): Cassette | undefined {
  if (cassette === undefined || cassette.mode === 'off') return undefined;
  const { mode, path, ttlHours } = cassette;
  return new Cassette({
    mode,
    path,
    scope: name,
    ttlHours,
    isAnswer: isRecord,
    hide: (text) => text,
  });
}
