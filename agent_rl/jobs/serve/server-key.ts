import { AgentRlError } from '../../core/errors.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { loopback } from '../../http/listen.ts';

/** Where a server listens, and whom it answers. */
export interface ServerAddress {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Environment variable that holds the key which clients must send. */
  apiKeyEnv?: string;
}

/**
 * The key that clients must send; undefined where a server of this machine alone wants none.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function keyOfServer(
  { host, apiKeyEnv }: Pick<ServerAddress, 'host' | 'apiKeyEnv'>,
  what: string,
): string | undefined {
  if (apiKeyEnv !== undefined)
    return secretOf(apiKeyEnv, { user: `${what}'s server`, fewestChars: 8 });
  if (loopback.has(host)) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${what} served on ${host} answers every client that can reach it. Require a key with --api-key-env, or use --host 127.0.0.1.`,
  );
}
