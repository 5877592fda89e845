import { setTimeout as sleep } from 'node:timers/promises';

import { type Asked, type LoopbackService, loopbackService } from './loopback-service.ts';
import { passedOn } from './passed-on.ts';

/**
 * What is done to a request. `refuse`: the connection is reset before the server hears of it. `lose`: the server answers, and the
 * connection is reset before the answer. `cut`: half of the answer, and then a reset. `delay`: the answer comes late.
 */
export type Fault = 'none' | 'refuse' | 'lose' | 'cut' | 'delay';

export interface ChaosProxyOptions {
  /** The server behind it, of this machine. */
  target: string;
  /** Asked for each request, which counts from 0. */
  faultOf: (request: Pick<Asked, 'method' | 'path'> & { number: number }) => Fault;
  delayMs?: number;
}

export interface ChaosProxy extends LoopbackService {
  /** How often each was done. */
  counts: Readonly<Record<Fault, number>>;
  /** From now on the server behind it is another, as after a restart on another port. */
  aim(target: string): void;
}

/** A proxy on loopback that harms what passes through it. A server that is away is a reset connection. */
export async function startChaosProxy(options: ChaosProxyOptions): Promise<ChaosProxy> {
  const { faultOf, delayMs = 500 } = options;
  let { target } = options;
  const counts: Record<Fault, number> = { none: 0, refuse: 0, lose: 0, cut: 0, delay: 0 };
  let number = 0;
  const service = await loopbackService(async (asked) => {
    const fault = faultOf({ ...asked, number: number++ });
    counts[fault] += 1;
    if (fault === 'refuse') return 'cut';
    const answer = await passedOn(target, asked);
    if (answer === undefined || fault === 'lose') return 'cut';
    if (fault === 'delay') await sleep(delayMs);
    return fault === 'cut' ? { half: answer } : answer;
  });
  return {
    ...service,
    counts,
    aim: (to) => {
      target = to;
    },
  };
}
