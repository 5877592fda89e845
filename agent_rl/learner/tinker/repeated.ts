import { setTimeout as sleep } from 'node:timers/promises';

import { Lost } from '../../tinker/tinker-client.ts';
import type { TinkerSession } from '../../tinker/tinker-session.ts';

/** A service that loses every order would be asked for ever. */
export const mostRepeats = 5;
const pauseMs = 1000;

/**
 * Does again what may be done twice, while its answer is lost.
 *
 * @param what completes "does not"
 * @throws AgentRlError, after the last try
 */
export async function repeated<Result>(
  session: TinkerSession,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { client } = session;
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Lost)) throw thrown;
      if (repeats >= mostRepeats)
        throw client.failure(`does not ${what}: ${thrown.message}`, thrown);
      client.warn(`${thrown.message}: the service does not ${what} yet. Tried again.`);
      await sleep(pauseMs);
      // A service that was started with an empty database does not know the session either.
      await session.renew();
    }
  }
}
