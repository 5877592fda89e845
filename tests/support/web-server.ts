import type { ServerResponse } from 'node:http';

import { afterAll, beforeAll } from '@jest/globals';

import {
  type Asked,
  drop,
  loopbackServer,
  type LoopbackService,
  pour,
} from './loopback-service.ts';

/** A request as the server got it. */
export interface Received extends Omit<Asked, 'bytes'> {
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
  let server: LoopbackService;
  const running: WebServer = {
    origin: '',
    received: [],
    answer: (_, response) => response.end(),
    shut: () => server.close(),
  };
  beforeAll(async () => {
    server = await loopbackServer(({ bytes, ...asked }, response) => {
      const request = { ...asked, body: bytes.toString() };
      running.received.push(request);
      running.answer(request, response);
    });
    running.origin = server.url;
  });
  afterAll(() => server.close());
  return running;
}

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
  drop(response);
};

/** A body of this many bytes, as fast as it is read. */
export const flood =
  (bytes: number, contentType = 'application/json'): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': contentType });
    pour(response, bytes);
  };
