import { append } from '../../core/long-lists.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import type { RemoteServer } from './remote-server.ts';
import type { Draw, ScoreCheck } from './score-check.ts';

/** Weights that lie where servers can read them. */
export interface Shipment {
  readonly version: number;
  /** What servers are to call them; no other run has the same. */
  readonly name: string;
  /** Path on the server. */
  readonly path: string;
  readonly kind: 'model' | 'adapter';
}

/** How weights get to a kind of server. */
export interface WeightRoute {
  /** How many of the newest a server can draw from at the same time. */
  readonly versionsAtOnce: number;
  /** Puts weights where servers can read them. @throws AgentRlError */
  prepare(weights: WeightRef): Promise<Shipment>;
  /** Has a server draw from them: its `model` and `weights` are then what it calls them. @throws what askings throw */
  load(server: RemoteServer, shipment: Shipment, signal?: AbortSignal): Promise<void>;
  /** No server draws from them any more. */
  drop(shipment: Shipment, servers: readonly RemoteServer[]): Promise<void>;
  /** Removes what is left of all. */
  close(): Promise<void>;
}

export interface WeightShippingOptions {
  route: WeightRoute;
  check: ScoreCheck;
  servers: readonly RemoteServer[];
  warn: (text: string) => void;
}

/** Takes weights to servers, one version after another, and believes a server only when its log-probabilities show them. */
export class WeightShipping {
  #current: { shipment: Shipment; scorer: Scorer | undefined } | undefined;
  /** Those before it that servers still draw from, the oldest first. */
  readonly #before: Shipment[] = [];
  readonly #older: Shipment[] = [];
  readonly #loading = new Map<RemoteServer, Promise<void>>();
  /** What servers are reading. */
  readonly #read = new Map<RemoteServer, Shipment>();

  constructor(private readonly options: WeightShippingOptions) {}

  get versionsAtOnce(): number {
    return this.options.route.versionsAtOnce;
  }

  async prepare(weights: WeightRef, scorer: Scorer | undefined): Promise<void> {
    const shipment = await this.options.route.prepare(weights);
    if (this.#current !== undefined) this.#before.push(this.#current.shipment);
    append(this.#older, this.#before.splice(0, this.#before.length + 1 - this.versionsAtOnce));
    this.#current = { shipment, scorer };
    // A server has room for as many adapters as it draws from.
    if (this.versionsAtOnce > 1) await this.dropOlder();
    if (scorer === undefined)
      this.options.warn(
        `The run cannot check version ${weights.version} of the weights on the servers: the learner does not return log-probabilities to compare with.`,
      );
  }

  /** The weights in use, one loading after another. @throws what keeps the server from drawing from them */
  async load(server: RemoteServer, draw: Draw, signal?: AbortSignal): Promise<void> {
    const before = this.#loading.get(server) ?? Promise.resolve();
    const loading = before.catch(() => undefined).then(() => this.#load(server, draw, signal));
    this.#loading.set(server, loading);
    await loading;
  }

  async #load(server: RemoteServer, draw: Draw, signal: AbortSignal | undefined): Promise<void> {
    const { route, check } = this.options;
    const current = this.#current;
    if (current === undefined) return;
    const { shipment, scorer } = current;
    const lost = this.#before.filter(({ version }) => !server.adapters.has(version));
    for (const one of [...lost, shipment]) {
      this.#read.set(server, one);
      try {
        await route.load(server, one, signal);
      } finally {
        this.#read.delete(server);
      }
    }
    // Others may have been prepared meanwhile.
    if (this.#current !== current) return this.#load(server, draw, signal);
    if (scorer !== undefined) await check.hold(server.url, draw, scorer, signal);
    if (this.#current !== current) return this.#load(server, draw, signal);
  }

  /** What a server is still reading is dropped with the next. */
  async dropOlder(): Promise<void> {
    const { route, servers } = this.options;
    const read = new Set(this.#read.values());
    for (const shipment of this.#older.splice(0))
      if (read.has(shipment)) this.#older.push(shipment);
      else await route.drop(shipment, servers);
  }

  async close(): Promise<void> {
    append(this.#older, this.#before);
    if (this.#current !== undefined) this.#older.push(this.#current.shipment);
    this.#current = undefined;
    await this.dropOlder();
    await this.options.route.close();
  }
}
