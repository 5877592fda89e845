import { createHash } from 'node:crypto';

import PQueue from 'p-queue';

import { AgentRlError } from '../../core/errors.ts';
import { notTimed } from '../../core/stopping/work-clock.ts';

/** Resolves when a request may start, and no sooner. @throws the signal's reason when it is aborted while waiting */
export type StartGate = (signal: AbortSignal) => Promise<void>;

const minuteMs = 60_000;

/** At most this many starts in any sliding minute, in the order of the requests. */
export function rateLimit(startsPerMinute: number): StartGate {
  const queue = new PQueue({ interval: minuteMs, intervalCap: startsPerMinute, strict: true });
  return (signal) => notTimed(() => queue.add(() => {}, { signal }));
}

/** Lets every request start at once. */
export const unlimited: StartGate = async (signal) => signal.throwIfAborted();

// Of the process: a provider counts by key, whichever tool or run of this process asks.
const limits = new Map<string, { gate: StartGate; startsPerMinute: number }>();

/**
 * The one limit of a key, shared by everything in this process that uses it.
 *
 * @throws AgentRlError `CONFIG_INVALID` when it was given another limit before.
 */
export function rateLimitOf(
  { origin, secret = '' }: { origin: string; secret?: string | undefined },
  startsPerMinute: number,
): StartGate {
  // The key itself is kept nowhere.
  const name = createHash('sha256').update(`${origin}\n${secret}`).digest('hex');
  const limit = limits.get(name) ?? { gate: rateLimit(startsPerMinute), startsPerMinute };
  if (limit.startsPerMinute !== startsPerMinute) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `Two tools use the same key at ${origin}, but rateLimitPerMin is ${limit.startsPerMinute} in one and ${startsPerMinute} in the other. Set the same value in both.`,
    );
  }
  limits.set(name, limit);
  return limit.gate;
}
