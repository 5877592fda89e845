import type { IncomingMessage, ServerResponse } from 'node:http';
import { loopback } from '../../http/listen.ts';
import { Refusal } from '../../http/refusal.ts';
import { isWildcard, ownNames } from './served-addresses.ts';

/** What the page may load: its own files and answers, nothing written into it, nothing from elsewhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** On every answer, refusals too. */
export function setHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/**
 * Names that a server on an address is asked by. A page of another site reaches this machine under a name of its own, which
 * is none of these (DNS rebinding).
 */
export function servedNames(host: string): ReadonlySet<string> {
  if (loopback.has(host)) return loopback;
  const anywhere = isWildcard(host) ? ownNames() : [];
  return new Set([...loopback, host, ...anywhere].map((name) => name.toLowerCase()));
}

/**
 * Refuses what no page of this server asks: other methods, other names, other sites.
 *
 * @throws Refusal
 */
export function refuseStrangers(
  { method, headers: sent }: Pick<IncomingMessage, 'method' | 'headers'>,
  names: ReadonlySet<string>,
): void {
  if (method !== 'GET') throw new Refusal(405, 'This server is read-only: it answers GET alone.');
  const asked = sent.host ?? '';
  // The port may be another one: that of a tunnel.
  const name = URL.canParse(`http://${asked}`) ? new URL(`http://${asked}`).hostname : '';
  if (!names.has(name.replace(/^\[(.*)\]$/, '$1').toLowerCase()))
    throw new Refusal(
      403,
      'This server is not called that. Use the address that it was started with.',
    );
  const { origin } = sent;
  if (origin !== undefined && origin !== `http://${asked}`)
    throw new Refusal(403, 'Pages of other sites are not answered.');
  const site = sent['sec-fetch-site'];
  const navigates = sent['sec-fetch-mode'] === 'navigate';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !navigates)
    throw new Refusal(403, 'Pages of other sites are not answered.');
}
