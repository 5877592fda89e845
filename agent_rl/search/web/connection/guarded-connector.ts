import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import { buildConnector } from 'undici';

import {
  addressRefused,
  isAllowedHost,
  isPublicAddress,
  publicAddresses,
  type Resolve,
} from './address-guard.ts';

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
      let addresses: readonly string[];
      try {
        addresses = await publicAddresses(hostname, resolve);
      } catch (error) {
        callback(error as NodeJS.ErrnoException, '');
        return;
      }
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (all === true) callback(null, found);
      else callback(null, first?.address ?? '', first?.family);
    };
    void answer();
  };
