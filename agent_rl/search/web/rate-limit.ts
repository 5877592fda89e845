import { createHash } from 'node:crypto';

import PQueue from 'p-queue';

import { AgentRlError } from '../../core/errors.ts';
import type { StartGate } from './connection/start-gate.ts';

const minuteMs = 60_000;

/** At most so many starts in any sliding minute, in the order they were asked for. */
export class RateLimit implements StartGate {
  readonly #queue: PQueue;

  constructor(readonly startsPerMinute: number) {
    this.#queue = new PQueue({ interval: minuteMs, intervalCap: startsPerMinute, strict: true });
  }

  async start(begin: () => void, signal: AbortSignal): Promise<void> {
    await this.#queue.add(begin, { signal });
  }
}

/** Starts at once. */
export const unlimited: StartGate = {
  start: async (begin, signal) => {
    signal.throwIfAborted();
    begin();
  },
};

// Of the process: a provider counts by key, whichever tool or run of this process asks.
const limits = new Map<string, RateLimit>();

/**
 * The one limit of a key, shared by everything in this process that uses it.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it was given another limit before.
 */
export function rateLimitOf(
  { origin, secret }: { origin: string; secret: string | undefined },
  startsPerMinute: number,
): RateLimit {
  // The key itself is kept nowhere.
  const name = createHash('sha256')
    .update(`${origin}\n${secret ?? ''}`)
    .digest('hex');
  const limit = limits.get(name) ?? new RateLimit(startsPerMinute);
  if (limit.startsPerMinute !== startsPerMinute) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `rateLimitPerMin is ${startsPerMinute} here and ${limit.startsPerMinute} elsewhere for the same key at ${origin}. Give both the same value.`,
    );
  }
  limits.set(name, limit);
  return limit;
}
