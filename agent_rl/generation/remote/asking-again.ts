import { setTimeout as sleep } from 'node:timers/promises';

import { type AgentRlError, messageOf } from '../../core/errors.ts';
import type { RemoteServer } from './remote-server.ts';
import {
  AskAgain,
  generationFailed,
  OtherWeights,
  ServerGone,
  UnusableAnswer,
} from './server-failures.ts';
import type { EpisodePool } from './episode-pool.ts';

export interface AskingAgainOptions {
  pool: EpisodePool;
  patienceS: number;
  /** Whether a server with other weights can be given the right ones. */
  loads: boolean;
  warn: (text: string) => void;
}

/** When a request is retried: after which failures, how often and how soon. */
export class AskingAgain {
  #unusable = 0;
  #loads = 0;
  #gone = 0;
  #refusals = 0;
  #refusedSince = 0;

  constructor(private readonly options: AskingAgainOptions) {}

  /** Returns when it is to be asked again. @throws AgentRlError where that would not help, or has not; the signal's reason */
  async after(thrown: unknown, server: RemoteServer, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { pool, patienceS, loads, warn } = this.options;
    const failed = (more = ''): AgentRlError =>
      generationFailed(`${messageOf(thrown)}${more}`, thrown);
    if (thrown instanceof ServerGone) {
      if (thrown.late) pool.takeOut(server, thrown.message);
      else await pool.suspect(server, thrown.message, signal);
      this.#gone += 1;
      // It may hang at this very request, or break at it: another server would too.
      if (thrown.late || this.#gone >= mostGone) throw failed();
    } else if (thrown instanceof AskAgain) {
      if (this.#refusals === 0) {
        this.#refusedSince = performance.now();
        warn(`${thrown.message} Retrying for up to ${patienceS} s.`);
      }
      if (performance.now() - this.#refusedSince >= 1000 * patienceS) throw failed();
      const pauseMs = Math.min(mostPauseMs, leastPauseMs * 2 ** this.#refusals);
      this.#refusals += 1;
      await sleep(pauseMs, undefined, { signal });
    } else if (thrown instanceof UnusableAnswer) {
      this.#unusable += 1;
      if (this.#unusable >= mostUnusable)
        throw failed(` ${mostUnusable} answers in a row were unusable.`);
      warn(`Discarding an unusable answer and retrying: ${thrown.message}`);
    } else if (thrown instanceof OtherWeights) {
      this.#loads += 1;
      if (!loads || this.#loads > mostLoads) throw failed();
      pool.takeOut(server, `${thrown.message} The run sends the weights to this server again.`);
    } else throw thrown;
  }
}

const leastPauseMs = 200;
const mostPauseMs = 8000;
/** Unusable answers that one request may get. */
const mostUnusable = 3;
/** Servers that may go away while they work on one request. */
const mostGone = 8;
/** Times that a server may be found with other weights by one request. */
const mostLoads = 2;
