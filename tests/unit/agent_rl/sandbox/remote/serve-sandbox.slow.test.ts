import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import type { PagesServer } from '#agent_rl/http/serve-pages.ts';
import { serveSandbox, type ServeOptions } from '#agent_rl/sandbox/remote/serve-sandbox.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { expectStrangersRefused } from '#tests/support/foreign-requests.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const opened = closedAfterEach();

/** A sandbox whose programs end when they are aborted, which it reports. */
const endless = (aborted: () => unknown = () => undefined): Sandbox => ({
  ...echoing(),
  execute: (_: unknown, signal?: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        aborted();
        reject(signal.reason as Error);
      });
    }),
});

const echoing = () =>
  scriptedSandbox((request) => ({ stdout: 'stdin' in request ? request.stdin : '' }));

async function served(
  sandbox: Parameters<typeof serveSandbox>[0] = echoing(),
  options: Partial<ServeOptions> = {},
): Promise<PagesServer> {
  const server = await serveSandbox(sandbox, { host: '127.0.0.1', port: 0, ...options });
  opened.push(server);
  return server;
}

async function post(
  { url }: PagesServer,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; json: unknown; headers: Headers }> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, json: await answer.json(), headers: answer.headers };
}

const program = { code: 'print(1)', language: 'python', stdin: 'hello' };

describe('The server of a sandbox', () => {
  test("answers POST /run_code as SandboxFusion's callers expect", async () => {
    const { status, json } = await post(await served(), '/run_code', program);
    expect(status).toBe(200);
    const run_result = { status: 'Finished', return_code: 0, stdout: 'hello' };
    expect(json).toMatchObject({ status: 'Success', run_result });
  });

  test('runs nothing for web pages that reach it under another host name, with or without the token', async () => {
    const paths = ['/run', '/calls', '/judge', '/sessions', '/run_code', '/nothing'];
    const requests = [
      ...paths.map((path) => ['POST', path] as const),
      ['GET', '/capabilities'] as const,
      ['DELETE', '/sessions/x'] as const,
      ['OPTIONS', '/run'] as const,
    ];
    const answered = '/capabilities';
    await expectStrangersRefused((await served()).url, { requests, answered });
    const headers = { authorization: 'Bearer a-token-of-the-test' };
    const { url } = await served(echoing(), { token: 'a-token-of-the-test' });
    await expectStrangersRefused(url, { requests, answered, headers });
  });

  test('answers invalid bodies with 422 and the place of each problem', async () => {
    const server = await served();
    const wrong = await post(server, '/run_code', { code: 5, language: 'cobol' });
    expect(wrong.status).toBe(422);
    expect(wrong.json).toEqual({
      detail: [
        { type: 'value_error', loc: ['body', 'code'], msg: 'must be string' },
        { type: 'value_error', loc: ['body', 'language'], msg: 'must be "python"' },
      ],
    });
    const broken = await post(server, '/run', '{"code":');
    expect(broken.status).toBe(422);
    expect(broken.json).toMatchObject({ detail: [{ loc: ['body'] }] });
    const session = await post(server, '/sessions', { totalWallS: 0 });
    expect(session.status).toBe(422);
    const msg: unknown = expect.stringContaining('totalWallS is 0');
    expect(session.json).toMatchObject({ detail: [{ loc: ['body'], msg }] });
  });

  test('answers a bad request in the format of the caller', async () => {
    const sandbox = scriptedSandbox(() => ({ status: 'bad_request', message: 'code is too long' }));
    const server = await served(sandbox);
    const theirs = await post(server, '/run_code', program);
    expect(theirs).toMatchObject({ status: 422, json: { detail: [{ msg: 'code is too long' }] } });
    const ours = await post(server, '/run', { code: '' });
    expect(ours).toMatchObject({ status: 200, json: { status: 'bad_request' } });
  });

  test('answers POST of an unknown page with 404 and of one to read with 405', async () => {
    const server = await served();
    expect((await post(server, '/nowhere', {})).status).toBe(404);
    expect((await post(server, '/capabilities', {})).status).toBe(405);
  });

  test('answers an invalid address with 400', async () => {
    const failures: string[] = [];
    const server = await served(echoing(), { onFailure: (message) => failures.push(message) });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.end(
      'POST http://[bad HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
    );
    const answer = await textOf(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('got \\"http://[bad\\"');
    expect({ failures, counts: server.counts }).toEqual({ failures: [], counts: { 400: 1 } });
  });

  test('accepts only JSON, which web pages cannot send without permission', async () => {
    const server = await served();
    const answer = await post(server, '/run', '{"code":""}', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(415);
  });

  test('refuses a body beyond its limit', async () => {
    const server = await served();
    const body = JSON.stringify({ code: 'x'.repeat(65 * 2 ** 20) });
    const answer = await post(server, '/run', body).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
    expect((await post(server, '/run', { code: '' })).status).toBe(200);
  });

  test('refuses a body with too many values before it parses the body', async () => {
    const server = await served();
    const many = `{"code":"","args":[[${'0,'.repeat(1_000_000)}0]]}`;
    const { status, json } = await post(server, '/calls', many);
    expect([status, json]).toEqual([413, { detail: 'the body holds more than 1000000 values' }]);
    const text = JSON.stringify({ code: '', stdin: '[,{\\",'.repeat(1_000_000) });
    expect((await post(server, '/run', text)).status).toBe(200);
  });

  /** Connections that send only the beginning of a request. */
  const dawdling = async ({ url }: PagesServer, count: number) => {
    const head =
      'POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"code"';
    const sockets = Array.from({ length: count }, () =>
      connect(Number(new URL(url).port), '127.0.0.1'),
    );
    const sent = sockets.map((socket) => new Promise((resolve) => socket.write(head, resolve)));
    await Promise.all(sent);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return sockets;
  };

  test('answers other callers while a body arrives slowly', async () => {
    const server = await served(echoing(), { mostRequests: 2 });
    const sockets = await dawdling(server, 5);
    expect((await post(server, '/run', { code: '' })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test('closes without waiting for a body that arrives slowly', async () => {
    const server = await serveSandbox(echoing(), { host: '127.0.0.1', port: 0 });
    const [socket] = await dawdling(server, 1);
    const answer = socket === undefined ? '' : textOf(socket);
    await server.close();
    expect(await answer).toMatch(/^HTTP\/1\.1 503 /);
  });

  test('requires the token', async () => {
    const server = await served(echoing(), { token: 'a-token-of-some-length' });
    for (const authorization of [undefined, 'Bearer another', 'a-token-of-some-length']) {
      const headers = authorization === undefined ? {} : { authorization };
      const { status, json } = await post(server, '/run', { code: '' }, headers);
      expect(status).toBe(401);
      expect(JSON.stringify(json)).not.toContain('a-token');
    }
    const authorization = 'Bearer a-token-of-some-length';
    expect((await post(server, '/run', { code: '' }, { authorization })).status).toBe(200);
    expect(server.counts).toEqual({ 200: 1, 401: 3 });
  });

  test('says which flag to change when it cannot listen', async () => {
    const { url } = await served();
    const token = 'a-token-of-some-length';
    for (const [options, code, flag] of [
      [{ port: Number(new URL(url).port) }, 'SANDBOX_UNAVAILABLE', '--port'],
      [{ host: '192.0.2.1', token }, 'SANDBOX_UNAVAILABLE', '--host'],
      [{ host: '0.0.0.0' }, 'CONFIG_INVALID', '--token-env'],
    ] as const)
      expect(await rejectionOf(served(echoing(), options))).toMatchObject(errorOf(code, flag));
  });

  test('answers 503 while too many requests are in progress', async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const sandbox = echoing();
    const execute: Sandbox['execute'] = (request) => held.then(() => sandbox.execute(request));
    const server = await served({ ...sandbox, execute }, { mostRequests: 2 });
    const waiting = [1, 2].map(() => post(server, '/run', { code: '' }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const more = await post(server, '/run', { code: '' });
    expect(more.status).toBe(503);
    expect(more.headers.get('retry-after')).toBe('1');
    release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('ends the program of a caller who has left', async () => {
    let resolve!: () => void;
    const aborted = new Promise<void>((done) => (resolve = done));
    const { url } = await served(endless(resolve));
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(100);
    const options = { method: 'POST', headers, body: '{"code":""}', signal };
    await fetch(`${url}/run`, options).catch(() => undefined);
    await aborted;
  });

  test('reports its own failures in full to its owner, but not to the caller', async () => {
    const failures: string[] = [];
    const execute = () => Promise.reject(new Error('a fault with details'));
    const onFailure = (text: string) => failures.push(text);
    const server = await served({ ...echoing(), execute }, { onFailure });
    const { status, json } = await post(server, '/run', { code: '' });
    expect([status, json]).toEqual([500, { detail: 'The server failed.' }]);
    expect(failures).toEqual(['a fault with details']);
  });

  test('answers waiting requests when it is closed', async () => {
    const server = await serveSandbox(endless(), { host: '127.0.0.1', port: 0 });
    const waiting = post(server, '/run', { code: '' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.close();
    expect((await waiting).status).toBe(503);
  });
});
