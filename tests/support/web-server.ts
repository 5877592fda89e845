import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll } from '@jest/globals';

/** A request as the server got it. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface WebServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  received: Received[];
  /** What the next requests are answered with. */
  answer: Answer;
  /** Stops listening. */
  shut(): Promise<void>;
}

/** A server of this machine alone, open while the tests of the file run. */
export function webServer(): WebServer {
  const running: Mutable<WebServer> = {
    origin: '',
    received: [],
    answer: (_, r) => r.end(),
    shut: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      running.received.push(request);
      running.answer(request, response);
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    running.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return running;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Answers with JSON. */
export const json =
  (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };

/** Answers with a page. */
export const html =
  (body: string | Buffer, type = 'text/html; charset=utf-8', headers: object = {}): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(body);
  };

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    response.writeHead(code, headers);
    response.end('no');
  };

export const redirect = (to: string): Answer => status(302, { location: to });

/** One answer after another; the last one again and again. */
export function inTurn(...answers: readonly Answer[]): Answer {
  let next = 0;
  return (request, response) => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    answer?.(request, response);
  };
}

/** Says nothing, ever. */
export const hang: Answer = () => {};

/** A byte every 20 ms, without end. */
export const drip: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** A body of this many bytes, as fast as it is read. */
export const flood =
  (bytes: number, contentType = 'application/json'): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': contentType });
    const chunk = Buffer.alloc(65_536, 0x20);
    let left = bytes;
    const more = (): void => {
      while (left > 0) {
        left -= chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  };
