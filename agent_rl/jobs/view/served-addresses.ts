import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

import { urlOf } from '../../http/listen.ts';

/** Whether a host means every address of this machine, which another machine cannot open. */
function isWildcard(host: string): boolean {
  const address = host.includes(':') ? `http://[${host}]` : `http://${host}`;
  // Spells it as a server does: `0` is 0.0.0.0.
  return URL.canParse(address) && ['0.0.0.0', '[::]'].includes(new URL(address).hostname);
}

/** Names and addresses that other machines may know this one by; link-local addresses are left out, which need its name. */
function ownNames(families: readonly string[] = ['IPv4', 'IPv6']): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(
      ({ internal, family, address }) =>
        !internal && families.includes(family) && !/^fe80:/i.test(address),
    )
    .map(({ address }) => address);
  return [...new Set([hostname(), ...addresses])];
}

/** Where a server is found: first from this machine, then, if it listens on all addresses, from others. */
export function servedAddresses(server: Server): string[] {
  const { address, family, port } = server.address() as AddressInfo;
  if (!isWildcard(address)) return [urlOf(server)];
  const names = ownNames(family === 'IPv6' ? ['IPv4', 'IPv6'] : ['IPv4']);
  return ['127.0.0.1', ...names].map(
    (name) => `http://${name.includes(':') ? `[${name}]` : name}:${port}`,
  );
}
