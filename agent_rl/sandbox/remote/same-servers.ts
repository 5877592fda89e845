import { isDeepStrictEqual } from 'node:util';

import { AgentRlError } from '../../core/errors.ts';
import type { OpenedServer } from './open-server.ts';
import { factsText } from './own-server.ts';

/**
 * Refuses servers that are not alike: what a program gives would depend on which of them happened to run it.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`, naming each server that differs from the first, and how
 */
export function requireSameServers([first, ...others]: readonly OpenedServer[]): void {
  const different = others.filter(
    ({ server }) => !isDeepStrictEqual(server.facts, first?.server.facts),
  );
  if (first === undefined || different.length === 0) return;
  const each = [first, ...different].map(
    ({ url, server }) => `${url} is ${factsText(server.facts)}`,
  );
  throw new AgentRlError(
    'SANDBOX_UNAVAILABLE',
    `The servers of sandbox.url differ: ${each.join('; ')}. What a program gives must not depend on the server that runs it: start all of them with the same --type, --python and --preload on machines that allow the same.`,
  );
}
