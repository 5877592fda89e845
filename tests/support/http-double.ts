import type { IncomingMessage, ServerResponse } from 'node:http';

import { loopbackServer, type LoopbackService } from './loopback-service.ts';

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
export interface HttpDouble extends LoopbackService {
  requests: readonly GotRequest[];
}

export async function httpDouble(
  answer: (request: GotRequest, count: number) => DoubleAnswer | Promise<DoubleAnswer>,
  port = 0,
): Promise<HttpDouble> {
  const requests: GotRequest[] = [];
  const service = await loopbackServer(async ({ bytes, ...asked }, response) => {
    const text = bytes.toString();
    const isJson = asked.headers['content-type'] === 'application/json';
    const body = (isJson ? JSON.parse(text) : {}) as GotRequest['body'];
    const request = { ...asked, body, text };
    const given = await answer(request, requests.push(request));
    if (given === undefined) return;
    if (given === 'cut') response.destroy();
    else if (typeof given === 'function') given(response);
    else response.writeHead(given.status).end(JSON.stringify(given.json));
  }, port);
  return { ...service, requests };
}
