import { once } from 'node:events';
import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What is done to a request. `refuse`: the connection is reset before the server hears of it. `lose`: the server answers, and the
 * connection is reset before the answer. `cut`: half of the answer, and then a reset. `delay`: the answer comes late.
 */
export type Fault = 'none' | 'refuse' | 'lose' | 'cut' | 'delay';

export interface ChaosProxyOptions {
  /** The server behind it, of this machine. */
  target: string;
  /** Asked for each request, which counts from 0. */
  faultOf: (request: { number: number; method: string; path: string }) => Fault;
  delayMs?: number;
}

export interface ChaosProxy {
  url: string;
  /** How often each was done. */
  counts: Readonly<Record<Fault, number>>;
  /** From now on the server behind it is another, as after a restart on another port. */
  aim(target: string): void;
  close(): Promise<void>;
}

/** A proxy on loopback that harms what passes through it. A server that is away is a reset connection. */
export async function startChaosProxy(options: ChaosProxyOptions): Promise<ChaosProxy> {
  const { faultOf, delayMs = 500 } = options;
  let { target } = options;
  const counts: Record<Fault, number> = { none: 0, refuse: 0, lose: 0, cut: 0, delay: 0 };
  let number = 0;

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '/' } = incoming;
    const fault = faultOf({ number: number++, method, path });
    counts[fault] += 1;
    if (fault === 'refuse') return void incoming.socket.destroy();
    const body = await buffer(incoming);
    const answer = await asked(target, incoming, body);
    const whole = await buffer(answer);
    if (fault === 'lose') return void incoming.socket.destroy();
    if (fault === 'delay') await sleep(delayMs);
    const { 'transfer-encoding': _chunked, connection: _kept, ...headers } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, {
      ...headers,
      'content-length': whole.byteLength,
    });
    if (fault !== 'cut') return void outgoing.end(whole);
    outgoing.write(whole.subarray(0, whole.byteLength >> 1));
    // What was written is to arrive before the reset.
    await sleep(20);
    incoming.socket.destroy();
  };

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    aim: (to) => {
      target = to;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function asked(
  target: string,
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  const { host: _host, 'transfer-encoding': _chunked, ...kept } = headers;
  const request = send(new URL(url, target), {
    method,
    headers: { ...kept, 'content-length': body.byteLength },
  });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}
