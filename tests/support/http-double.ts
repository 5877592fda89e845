import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a double of a server got it. */
export interface GotRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Of JSON; an empty object where it is absent. */
  body: Readonly<Record<string, unknown>>;
  /** As it came. */
  text: string;
}

/** What it answers; nothing is an answer that never comes, `'cut'` a connection that breaks, a function writes what it likes. */
export type DoubleAnswer =
  { status: number; json: unknown } | 'cut' | ((response: ServerResponse) => void) | undefined;

/** A server whose answers a test writes, on the loopback address. */
export interface HttpDouble {
  url: string;
  requests: readonly GotRequest[];
  close(): Promise<void>;
}

export async function httpDouble(
  answer: (request: GotRequest, count: number) => DoubleAnswer | Promise<DoubleAnswer>,
  port = 0,
): Promise<HttpDouble> {
  const requests: GotRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { method = '', url: path = '', headers } = request;
    const isJson = headers['content-type'] === 'application/json';
    const body = (isJson ? JSON.parse(text) : {}) as GotRequest['body'];
    requests.push({ method, path, headers, body, text });
    const given = await answer(requests.at(-1)!, requests.length);
    if (given === undefined) return;
    if (given === 'cut') request.socket.destroy();
    else if (typeof given === 'function') given(response);
    else response.writeHead(given.status).end(JSON.stringify(given.json));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
