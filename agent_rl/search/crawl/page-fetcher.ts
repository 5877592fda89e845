import PQueue from 'p-queue';
import commonJsRobots from 'robots-parser';

import {
  guardedConnector,
  publicAddresses,
  type Resolve,
  systemResolve,
} from '../web/connection/address-guard.ts';
import { openDispatcher } from '../web/connection/open-dispatcher.ts';
import { followRedirects } from '../web/redirects.ts';
import type { StartGate } from '../web/rate-limit.ts';
import { WebClient, type WebResponse } from '../web/web-client.ts';
import { WebFailure } from '../web/web-failure.ts';
import type { CrawlFailure, RawPage } from './page-store.ts';

/** How pages are fetched. */
export interface CrawlSettings {
  /** Folder of readable texts, one file a page. */
  contentDir: string;
  /** Folder of the pages as they came, so that they can be read anew without being fetched. */
  cacheDir: string;
  /** Sent with every request; robots.txt is read for it. */
  userAgent: string;
  /** Most requests a second to one host; a longer Crawl-delay of its robots.txt is kept. */
  requestsPerSecond: number;
  /** Hosts visited at once; each is asked for one page at a time. */
  concurrency: number;
  /** Pages between two lines of progress. */
  batchSize: number;
  /** Pages whose text or lasting failure is known are not fetched again. */
  skipExisting: boolean;
  /** Seconds one attempt may take. */
  pageTimeoutS: number;
  /** Seconds a page may take with its retries and the waiting between them. */
  pageDeadlineS: number;
  maxRetries: number;
  maxPageBytes: number;
  /** Private and loopback addresses are fetched too. */
  allowPrivate: boolean;
}

const backoffS = 1;

export interface PageFetcherOptions {
  settings: CrawlSettings;
  environment: Readonly<Record<string, string | undefined>>;
  resolve?: Resolve;
}

class Refused extends Error {
  constructor(readonly failure: CrawlFailure) {
    super(failure.detail);
  }
}

/** Fetches pages as their hosts want it: by robots.txt, one after the other, not too often, as who we are. */
export class PageFetcher {
  readonly #settings: CrawlSettings;
  readonly #resolve: Resolve;
  readonly #gates: ReturnType<typeof hostGates>;
  readonly #robots: Robots;
  readonly #dispatcher: ReturnType<typeof openDispatcher>;

  /** @throws AgentRlError `CONFIG_INVALID` for a proxy that cannot be used. */
  constructor({ settings, environment, resolve = systemResolve }: PageFetcherOptions) {
    this.#settings = settings;
    this.#resolve = resolve;
    this.#gates = hostGates(1 / settings.requestsPerSecond);
    const connector = settings.allowPrivate ? {} : { connector: guardedConnector([], resolve) };
    this.#dispatcher = openDispatcher({ connections: 2, environment, ...connector });
    this.#robots = new Robots(
      settings.userAgent,
      (url, signal) => this.#follow(url, signal),
      (host, delayS) => this.#gates.slowDown(host, delayS),
    );
  }

  /**
   * A page, or why it is not available.
   *
   * @throws The signal's reason.
   */
  async fetch(address: URL, signal: AbortSignal): Promise<RawPage | CrawlFailure> {
    try {
      const { status, headers, body, url } = await this.#follow(address, signal, async (next) => {
        const refusal = await this.#robots.refusal(next, signal);
        if (refusal !== undefined) throw new Refused(refusal);
      });
      if (status >= 300) return { kind: 'client-error', detail: `${url.host} answers ${status}` };
      return { url: url.href, contentType: headers['content-type'] ?? '', body };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Refused) return error.failure;
      if (error instanceof WebFailure) return { kind: error.kind, detail: error.message };
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** Asks `permit` before each hop: a redirect may lead to another host, or where this one admits no crawler. */
  async #follow(first: URL, signal: AbortSignal, permit?: (url: URL) => Promise<void>) {
    const headers = {
      'user-agent': this.#settings.userAgent,
      accept: 'text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.1',
    };
    return followRedirects(first, {
      ask: async (url) => {
        await this.#requirePublic(url);
        await permit?.(url);
        return this.#client(url).send({ url, method: 'GET', headers }, signal);
      },
      target: redirected,
    });
  }

  #client(url: URL): WebClient {
    const { pageTimeoutS, pageDeadlineS, maxRetries, maxPageBytes } = this.#settings;
    return new WebClient(this.#dispatcher, this.#gates.of(url.host), {
      timeoutS: pageTimeoutS,
      deadlineS: pageDeadlineS,
      maxRetries,
      backoffFactor: backoffS,
      maxBytes: maxPageBytes,
    });
  }

  async #requirePublic({ hostname }: URL): Promise<void> {
    if (!this.#settings.allowPrivate) await publicAddresses(hostname, this.#resolve);
  }
}

function redirected(target: string, from: URL): URL {
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new WebFailure('redirect', `${from.href} redirects to ${target.slice(0, 200)}`);
}

/** Lets requests to one host start one after another, with the pause that it asks for. Retries wait here too. */
function hostGates(usualPauseS: number) {
  const gates = new Map<string, StartGate>();
  return {
    /** A host's own wish, from its robots.txt; only ever makes requests rarer. */
    slowDown(host: string, pauseS: number): void {
      if (pauseS > usualPauseS) gates.set(host, oneEvery(pauseS));
    },
    of(host: string): StartGate {
      const gate = gates.get(host) ?? oneEvery(usualPauseS);
      gates.set(host, gate);
      return gate;
    },
  };
}

function oneEvery(seconds: number): StartGate {
  const interval = 1000 * seconds;
  // A sliding window: a fixed one would let two requests start around its edge.
  const queue = new PQueue({ concurrency: 1, intervalCap: 1, interval, strict: true });
  return (signal) => queue.add(() => {}, { signal });
}

// Its types describe an ES module, and it is not one.
const robotsParser = commonJsRobots as unknown as typeof commonJsRobots.default;

type Rules = (page: URL) => CrawlFailure | undefined;

/**
 * The rules of every host that is visited (RFC 9309): robots.txt is fetched once; without one, all is
 * allowed; where it cannot be fetched, nothing is.
 */
class Robots {
  readonly #rules = new Map<string, Promise<Rules>>();

  constructor(
    private readonly userAgent: string,
    /** Follows redirects, and asks no robots.txt. */
    private readonly fetchAddress: (url: URL, signal: AbortSignal) => Promise<WebResponse>,
    private readonly onDelay: (host: string, delayS: number) => void,
  ) {}

  /** Why a page may not be fetched; nothing when it may. */
  async refusal(url: URL, signal: AbortSignal): Promise<CrawlFailure | undefined> {
    const rules = this.#rules.get(url.origin) ?? this.#ask(url, signal);
    this.#rules.set(url.origin, rules);
    return (await rules)(url);
  }

  async #ask(page: URL, signal: AbortSignal): Promise<Rules> {
    const url = new URL('/robots.txt', page);
    let answer: WebResponse;
    try {
      answer = await this.fetchAddress(url, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof WebFailure)) throw error;
      const { kind, message } = error;
      // A host that may not be asked at all is not a host whose robots.txt failed.
      return () =>
        kind === 'address-refused'
          ? { kind, detail: message }
          : { kind: 'robots-unreachable', detail: `${url.href}: ${message}` };
    }
    if (answer.status >= 300) return () => undefined;
    const robots = robotsParser(url.href, answer.body.toString('utf8'));
    this.onDelay(url.host, robots.getCrawlDelay(this.userAgent) ?? 0);
    return ({ href }) =>
      robots.isAllowed(href, this.userAgent) === false
        ? { kind: 'robots-disallowed', detail: `${url.href} forbids it` }
        : undefined;
  }
}
