import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

import { buildConnector } from 'undici';

import { WebFailure } from '../web-failure.ts';

/** Addresses that are not of the public internet (IANA special-purpose registries, multicast included). */
const special = blockList({
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  // Of those that are routed: tunnels lead to an address inside the address.
  ipv6: ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
});

/** Global unicast: everything else of IPv6 is local, mapped, translated or not assigned. */
const routed = blockList({ ipv4: [], ipv6: ['2000::/3'] });

function blockList(ranges: Readonly<Record<'ipv4' | 'ipv6', readonly string[]>>): BlockList {
  const list = new BlockList();
  for (const family of ['ipv4', 'ipv6'] as const) {
    for (const range of ranges[family]) {
      const [network = '', bits] = range.split('/');
      list.addSubnet(network, Number(bits), family);
    }
  }
  return list;
}

/** Whether an IP address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  return family === 6 && routed.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** Addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As the system resolves names for connections. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Hosts that need no check: a name, or a name and a port. Names are compared as URLs hold them, so that `bücher.example`,
 * `127.1` and upper case are the host they stand for.
 */
export function isAllowedHost(
  allowHosts: readonly string[],
  { hostname, port }: { hostname: string; port: string | number },
): boolean {
  const name = plainName(hostname);
  return allowHosts.some((host) => {
    const [, given = host, givenPort] = isIP(host) === 6 ? [] : (/^(.*):(\d+)$/.exec(host) ?? []);
    const fits = givenPort === undefined || Number(givenPort) === Number(port);
    return fits && plainName(given) === name;
  });
}

function plainName(host: string): string {
  const written = isIP(host) === 6 ? `[${host}]` : host;
  const url = URL.canParse(`http://${written}/`) ? new URL(`http://${written}/`) : undefined;
  return bareHost(url?.hostname ?? host.toLowerCase());
}

const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** The port of an http or https URL. */
export const portOf = ({ port, protocol }: URL): string =>
  port || (protocol === 'https:' ? '443' : '80');

/**
 * The addresses of a host that a model or a page chose, all of them public.
 *
 * @throws WebFailure `address-refused` when one of them is not; `network` when the name has no address.
 */
export async function publicAddresses(
  hostname: string,
  resolve: Resolve,
): Promise<readonly string[]> {
  const literal = bareHost(hostname);
  const addresses = isIP(literal) > 0 ? [literal] : await resolved(hostname, resolve);
  // All, since which of them is connected to is not settled yet.
  if (!addresses.every(isPublicAddress)) throw addressRefused(hostname);
  return addresses;
}

const addressRefused = (hostname: string): WebFailure =>
  new WebFailure('address-refused', `${hostname} is not a public address`);

async function resolved(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(hostname);
  } catch (cause) {
    throw new WebFailure('network', `${hostname} has no address`, { cause });
  }
  if (addresses.length === 0) throw new WebFailure('network', `${hostname} has no address`);
  return addresses;
}

/**
 * Makes connections to public addresses only. The address that was checked is the one that is connected to, and each
 * connection is checked, so neither a redirect nor a name that changes its address gets past it.
 */
export const guardedConnector =
  (allowHosts: readonly string[], resolve: Resolve) =>
  (options: buildConnector.BuildOptions): buildConnector.connector => {
    const plain = buildConnector(options);
    const guarded = buildConnector({ ...options, lookup: guardedLookup(resolve) });
    return (target, callback) => {
      if (isAllowedHost(allowHosts, target)) {
        plain(target, callback);
        return;
      }
      // Names are checked when they are looked up; literal addresses never are.
      if (isIP(target.hostname) > 0 && !isPublicAddress(target.hostname)) {
        callback(addressRefused(target.hostname), null);
        return;
      }
      guarded(target, (...result) => {
        const [error, socket] = result;
        if (error === null && !isPublicAddress(socket.remoteAddress ?? '')) {
          socket.destroy();
          callback(addressRefused(target.hostname), null);
        } else callback(...result);
      });
    };
  };

const guardedLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, { all }, callback) => {
    const answer = async (): Promise<void> => {
      try {
        const addresses = await publicAddresses(hostname, resolve);
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (all === true) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      } catch (error) {
        callback(error as NodeJS.ErrnoException, '');
      }
    };
    void answer();
  };
