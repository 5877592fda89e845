import type { IncomingMessage } from 'node:http';

import { loopback } from './listen.ts';
import { Refusal } from './refusal.ts';

/**
 * Refuses what reaches a server of this machine alone by way of a web page: a request to a name that is not this machine's
 * own (DNS rebinding), or from a page of another site. A server that listens on other addresses wants a key, which such a
 * page does not have, and may be known by any name.
 *
 * @param host that the server listens on
 * @throws Refusal
 */
export function refuseStrangers({ headers }: Pick<IncomingMessage, 'headers'>, host: string): void {
  if (!loopback.has(host)) return;
  const asked = headers.host ?? '';
  // The port may be another one: that of a tunnel.
  const name = URL.canParse(`http://${asked}`) ? new URL(`http://${asked}`).hostname : '';
  if (!loopback.has(name.replace(/^\[(.*)\]$/, '$1').toLowerCase()))
    throw new Refusal(
      403,
      `This server listens on ${host} and does not answer to the name ${JSON.stringify(asked.slice(0, 80))}. Use ${[...loopback].join(', ')}.`,
    );
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn =
    origin === undefined || origin === `http://${asked}` || origin === `https://${asked}`;
  const isNear = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn && (isNear || headers['sec-fetch-mode'] === 'navigate')) return;
  const from =
    origin === undefined ? '' : ` This one came from ${JSON.stringify(origin.slice(0, 80))}.`;
  throw new Refusal(403, `Requests from other web sites are refused.${from}`);
}
