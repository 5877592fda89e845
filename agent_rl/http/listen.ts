import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { AgentRlError, type ErrorCode, messageOf } from '../core/errors.ts';

/** Addresses that only this machine reaches. */
export const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

export interface ListenOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Of the error when the port is not available. */
  code: ErrorCode;
  /** For messages. */
  what: string;
}

/** @throws AgentRlError when the address or the port is not available */
export async function listen(
  server: Server,
  { host, port, code, what }: ListenOptions,
): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new AgentRlError(
      code,
      `${what} cannot be served on ${host}:${port}: ${messageOf(cause)}. Choose another with ${flagOf(cause)}.`,
      { cause },
    );
  }
}

/** Which flag fixes it: an address that is not this machine's, or a name without an address, has nothing to do with ports. */
function flagOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(String(code))
    ? '--host'
    : '--port';
}

/** The address of a server, with `https:` if it uses TLS. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const scheme = server instanceof SecureServer ? 'https' : 'http';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Takes no more requests and waits for those under way. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
