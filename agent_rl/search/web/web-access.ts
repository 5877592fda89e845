import type { Dispatcher } from 'undici';

import { AgentRlError } from '../../core/errors.ts';
import type { PluginReport } from '../../core/plugins/tool.ts';
import { Budget } from './budget.ts';
import { Cassette, type RecordableCall } from './cassette/cassette.ts';
import { hideSecrets } from '../../telemetry/redact.ts';
import { rateLimitOf, type StartGate, unlimited } from './rate-limit.ts';
import type { CommonWebSettings } from './settings.ts';
import { abortable, inTime } from '../../core/stopping/abort.ts';
import { WebClient } from './web-client.ts';
import { WebFailure } from './web-failure.ts';

export interface WebAccessOptions {
  settings: CommonWebSettings;
  /** Name of the tool. */
  scope: string;
  /** What the rate limit is counted by, besides the secrets. */
  origin: string;
  /** Values that may appear nowhere but in requests. */
  secrets: readonly string[];
  /** Whether a recorded value is what the tool makes of the web. */
  isAnswer: (value: unknown) => boolean;
  /** Not called in a replay. */
  dispatcher: () => Dispatcher;
}

interface WebReport extends PluginReport {
  requests: number;
  /** Attempts, repeated ones too. */
  networkCalls: number;
  cassetteHits: number;
  /** Share of the requests. */
  cassetteHitRate: number;
  cost: number;
}

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** `ToolShared.joinReports` of every tool that reports what `WebAccess` does. */
export function joinWebReports(earlier: PluginReport, session: PluginReport): WebReport {
  const sum = (name: keyof WebReport & string): number =>
    (earlier[name] ?? 0) + (session[name] ?? 0);
  const [requests, cassetteHits] = [sum('requests'), sum('cassetteHits')];
  return {
    requests,
    networkCalls: sum('networkCalls'),
    cassetteHits,
    cassetteHitRate: shareOf(cassetteHits, requests),
    cost: sum('cost'),
  };
}

/** The one way of a tool to the web: cassette, budget, rate limit, retries, deadline. Shared by all its instances. */
export class WebAccess {
  /** Takes the tool's secrets out of a text. */
  readonly hide: (text: string) => string;
  readonly #cassette: Cassette | undefined;
  readonly #budget: Budget;
  /** Absent in a replay: there is nothing that could reach the network. */
  readonly #client: WebClient | undefined;
  readonly #deadlineS: number;
  #requests = 0;

  /** @throws AgentRlError `CONFIG_INVALID`, `CASSETTE_INVALID`, `CASSETTE_MISS` */
  constructor({ settings, scope, origin, secrets, isAnswer, dispatcher }: WebAccessOptions) {
    const { budget, cassette, rateLimitPerMin, maxKiB } = settings;
    this.hide = hideSecrets(secrets);
    this.#deadlineS = settings.deadlineS;
    const secret = secrets.length === 0 ? undefined : secrets.join('\n');
    const gate =
      rateLimitPerMin === undefined ? unlimited : rateLimitOf({ origin, secret }, rateLimitPerMin);
    this.#budget = new Budget(gate, { costPerCall: 0, ...budget });
    if (cassette !== undefined && cassette.mode !== 'off') {
      const { mode, path, ttlHours } = cassette;
      this.#cassette = new Cassette({ mode, path, scope, ttlHours, isAnswer, hide: this.hide });
    }
    const patience = { ...settings, maxBytes: maxKiB * 1024 };
    if (cassette?.mode === 'replay') return;
    const start: StartGate = (signal) => this.#budget.start(signal);
    this.#client = new WebClient(dispatcher(), start, patience);
  }

  /**
   * What `ask` makes of the web, or what the cassette remembers of it. Plain data.
   *
   * @param ask is not ended by `signal` where others may wait for the same answer.
   * @throws WebFailure; AgentRlError `WEB_BUDGET_SPENT`, `WEB_REQUEST_DENIED`, `CASSETTE_MISS`; the signal's reason
   */
  async answer<Answer>(
    call: RecordableCall,
    ask: (client: WebClient, until: AbortSignal) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    this.#requests += 1;
    const client = this.#client;
    const seconds = this.#deadlineS;
    const live = async (until: AbortSignal): Promise<Answer> => {
      if (client === undefined)
        throw new Error('The network cannot be used while a cassette is replayed.');
      // However many requests it takes.
      const late = new WebFailure('timeout', `no answer within ${seconds} s`);
      const limits = { seconds, signal: until, late };
      return this.#clean(inTime((timed) => ask(client, timed), limits));
    };
    if (this.#cassette === undefined) return live(signal);
    const { signal: unending } = new AbortController();
    const answer = this.#cassette.answer(call, () => live(unending));
    return (await abortable(answer, signal)) as Answer;
  }

  report(): WebReport {
    const { calls, hits } = this.#cassette?.counts ?? { calls: this.#requests, hits: 0 };
    return {
      requests: calls,
      networkCalls: this.#budget.calls,
      cassetteHits: hits,
      cassetteHitRate: shareOf(hits, calls),
      cost: this.#budget.cost,
    };
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /** The same outcome without secrets in its message. */
  async #clean<Answer>(asking: Promise<Answer>): Promise<Answer> {
    try {
      return await asking;
    } catch (error) {
      // Without the cause: it may hold what was hidden.
      if (error instanceof WebFailure) throw new WebFailure(error.kind, this.hide(error.message));
      if (AgentRlError.is(error)) throw new AgentRlError(error.code, this.hide(error.message));
      throw error;
    }
  }
}
