import type { WebResponse } from './web-client.ts';
import { WebFailure } from './web-failure.ts';

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface Redirects {
  most: number;
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
  { most, ask, target }: Redirects,
): Promise<WebResponse & { url: URL }> {
  let url = first;
  for (let hop = 0; hop <= most; hop += 1) {
    const answer = await ask(url, hop);
    const { location } = answer.headers;
    if (location === undefined || !redirecting.has(answer.status)) return { ...answer, url };
    url = target(location, url);
  }
  throw new WebFailure('redirect', `${first.href} redirects more than ${most} times`);
}
