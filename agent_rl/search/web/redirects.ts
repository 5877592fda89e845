import type { WebResponse } from './web-client.ts';
import { WebFailure } from './web-failure.ts';

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const mostRedirects = 5;

export interface Redirects {
  /** Asks one address; the first is hop 0. May refuse it. */
  ask: (url: URL, hop: number) => Promise<WebResponse>;
  /** The address that a redirect names. May refuse it. */
  target: (location: string, from: URL) => URL;
}

/**
 * The answer at the end of the redirects, and its address.
 *
 * @throws WebFailure `redirect` for too many; what `ask` and `target` throw
 */
export async function followRedirects(
  first: URL,
  { ask, target }: Redirects,
): Promise<WebResponse & { url: URL }> {
  let url = first;
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const answer = await ask(url, hop);
    const { location } = answer.headers;
    if (location === undefined || !redirecting.has(answer.status)) return { ...answer, url };
    url = target(location, url);
  }
  throw new WebFailure('redirect', `${first.href} redirects more than ${mostRedirects} times`);
}
