import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  close(): Promise<void>;
}

const piece = Buffer.alloc(2 ** 20, ' ');

/** Writes for as long as the client reads. */
function flood(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
}

/** An HTTP server on the loopback address that answers bytes. */
export async function loopbackService(
  answer: (asked: Asked) => Promise<Outcome> | Outcome,
): Promise<LoopbackService> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const outcome = await answer({ method, path, headers, bytes: Buffer.concat(chunks) });
    give(outcome, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function give(outcome: Outcome, response: ServerResponse): void {
  if (outcome === 'cut') response.destroy();
  else if (outcome === 'endless') flood(response);
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
