import commonJsRobots from 'robots-parser';

import type { WebResponse } from '../web/web-client.ts';
import { WebFailure } from '../web/web-failure.ts';
import type { CrawlFailure } from './page-store.ts';

// Its types describe an ES module, and it is not one.
const robotsParser = commonJsRobots as unknown as typeof commonJsRobots.default;

type Rules = (page: URL) => CrawlFailure | undefined;

/**
 * The rules of every host that is visited (RFC 9309): robots.txt is fetched once; where there is none, all is
 * allowed; where it cannot be fetched, nothing is.
 */
export class Robots {
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
