import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
}

export interface Answered {
  status: number;
  type?: string;
  location?: string;
  body: Buffer;
}

/** `cut`: the connection breaks. `half`: it breaks in the middle of the answer. `endless`: the answer has no end. */
export type Outcome = Answered | { half: Answered } | 'cut' | 'endless';

export interface LoopbackService {
  url: string;
  close: () => Promise<void>;
}

/** An HTTP server on the loopback address, which reads a request before it is answered. */
export async function loopbackServer(
  answer: (asked: Asked, response: ServerResponse) => unknown,
  port = 0,
): Promise<LoopbackService> {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    await answer({ method, path, headers, bytes: await buffer(request) }, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** One that answers bytes. */
export const loopbackService = (answer: (asked: Asked) => Promise<Outcome> | Outcome) =>
  loopbackServer(async (asked, response) => give(await answer(asked), response));

function give(outcome: Outcome, response: ServerResponse): void {
  if (outcome === 'cut') response.destroy();
  else if (outcome === 'endless') pour(response);
  else if (!('half' in outcome)) begun(outcome, response).end(outcome.body);
  else {
    const { body } = outcome.half;
    begun(outcome.half, response).write(body.subarray(0, body.length / 2), () =>
      response.destroy(),
    );
  }
}

const begun = ({ status, type, location, body }: Answered, response: ServerResponse) =>
  response.writeHead(status, {
    'content-length': body.length,
    ...(type !== undefined && { 'content-type': type }),
    ...(location !== undefined && { location }),
  });

/** Writes this many bytes, as fast as they are read. */
export function pour(response: ServerResponse, bytes = Infinity): void {
  const piece = Buffer.alloc(65_536, ' ');
  for (let left = bytes; left > 0 && !response.destroyed; left -= piece.length)
    if (!response.write(piece))
      return void response.once('drain', () => pour(response, left - piece.length));
  response.end();
}

/** Writes a space every 20 ms, without end. */
export function drop(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}
