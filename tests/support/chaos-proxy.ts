import { setTimeout as sleep } from 'node:timers/promises';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { type Answered, type Asked, loopbackService } from './loopback-service.ts';

/**
 * What is done to a request. `refuse`: the connection is reset before the server hears of it. `lose`: the server answers, and the
 * connection is reset before the answer. `cut`: half of the answer, and then a reset. `delay`: the answer comes late.
 */
export type Fault = 'none' | (typeof faults)[number];

export const faults = ['refuse', 'lose', 'cut', 'delay'] as const;

interface ChaosProxyOptions {
  /** The server behind it, of this machine. */
  target: string;
  /** Asked for each request, which counts from 0. */
  faultOf: (request: Asked & { number: number }) => Fault;
  /** Told of each request, and of its answer where it arrives whole. */
  heard?: (asked: Asked, answer: Answered | undefined) => void;
  delayMs?: number;
}

export type ChaosProxy = Awaited<ReturnType<typeof startChaosProxy>>;

/** A proxy on loopback that harms what passes through it. A server that is away is a reset connection. */
export async function startChaosProxy(options: ChaosProxyOptions) {
  const { faultOf, heard, delayMs = 500 } = options;
  let { target } = options;
  const counts: Record<Fault, number> = { none: 0, refuse: 0, lose: 0, cut: 0, delay: 0 };
  let number = 0;
  const service = await loopbackService(async (asked) => {
    const fault = faultOf({ ...asked, number: number++ });
    counts[fault] += 1;
    const answer = fault === 'refuse' ? undefined : await passedOn(target, asked);
    heard?.(asked, fault === 'none' || fault === 'delay' ? answer : undefined);
    if (answer === undefined || fault === 'lose') return 'cut';
    if (fault === 'delay') await sleep(delayMs);
    return fault === 'cut' ? { half: answer } : answer;
  });
  return {
    ...service,
    /** How often each was done. */
    counts: counts as Readonly<typeof counts>,
    /** From now on the server behind it is another, as after a restart on another port. */
    aim: (to: string) => {
      target = to;
    },
  };
}

/** What the server behind it answers; undefined where it is not there. */
async function passedOn(target: string, { method, path, headers, bytes }: Asked) {
  const carried = ['content-type', 'authorization'].flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)] as [string, string]];
  });
  try {
    const answer = await fetch(target + path, {
      method,
      redirect: 'manual',
      headers: carried,
      ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
    });
    const to = answer.headers.get('location');
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      // Through this server again.
      ...(to !== null && { location: new URL(to).pathname }),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  } catch {
    // It is not there.
    return undefined;
  }
}

/** A fault for one request in this many, by its number alone. */
export function faultOfOneIn(requests: number, number: number): Fault {
  const random = new KeyedRng('chaos', number);
  return random.integer(requests) === 0 ? faults[random.integer(faults.length)]! : 'none';
}
