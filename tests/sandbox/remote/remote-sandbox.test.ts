import { afterEach, describe, expect, test } from '@jest/globals';

import { messageOf } from '#agent_rl/core/errors.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';
import {
  RemoteSandbox,
  type RemoteSandboxOptions,
} from '#agent_rl/sandbox/remote/remote-sandbox.ts';
import {
  type DoubleAnswer,
  type GotRequest,
  httpDouble,
  type HttpDouble,
} from '#tests/support/http-double.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const capabilities = {
  server: 'agent_rl',
  protocol: 1,
  level: 'native:ns',
  python: '3.11',
  concurrency: 2,
};
const ran = {
  status: 'ok',
  exitCode: 0,
  stdout: '42\n',
  stderr: '',
  stdoutBytes: 3,
  stderrBytes: 0,
  truncated: false,
  wallMs: 5,
  level: 'native:ns',
};

type Answer = (request: GotRequest, count: number) => DoubleAnswer | Promise<DoubleAnswer>;

async function double(answer: Answer): Promise<HttpDouble> {
  const server = await httpDouble(answer);
  opened.push(server);
  return server;
}

/** A server of ours that answers what follows the greeting by `answer`; counted from 1. */
const own = (answer: Answer): Promise<HttpDouble> =>
  double((request, count) =>
    request.path === '/capabilities'
      ? { status: 200, json: capabilities }
      : answer(request, count - 1),
  );

async function started(
  { url }: HttpDouble,
  options: Partial<RemoteSandboxOptions> = {},
): Promise<RemoteSandbox> {
  const sandbox = await RemoteSandbox.start({ url, workers: 2, pauseMs: 5, ...options });
  opened.push(sandbox);
  return sandbox;
}

describe('The remote sandbox', () => {
  test('asks a server of this package and says who ran the program', async () => {
    const server = await own(() => ({ status: 200, json: ran }));
    const sandbox = await started(server);
    expect(sandbox.capabilities()).toEqual({
      backend: 'remote',
      level: 'remote:native:ns',
      python: '3.11',
      concurrency: 2,
    });
    const request = { code: 'print(42)', stdin: 'x', seed: 3, limits: { wallS: 1 }, owner: 'r1' };
    expect(await sandbox.execute({ kind: 'run', ...request })).toEqual({
      ...ran,
      level: 'remote:native:ns',
    });
    expect(server.requests[1]).toMatchObject({ method: 'POST', path: '/run', body: request });
  });

  test('shows the token of its variable in every request and nowhere else', async () => {
    process.env['TEST_SANDBOX_TOKEN'] = 'token-0123456789';
    const server = await own((_, count) => ({ status: count === 1 ? 200 : 500, json: ran }));
    const sandbox = await started(server, { tokenEnv: 'TEST_SANDBOX_TOKEN' });
    await sandbox.execute({ kind: 'run', code: '' });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-0123456789',
      'Bearer token-0123456789',
    ]);
    const failed = await sandbox.execute({ kind: 'run', code: '' });
    expect(failed.status).toBe('sandbox_error');
    expect(JSON.stringify(failed)).not.toContain('token-0123456789');
    delete process.env['TEST_SANDBOX_TOKEN'];
    const missing = await rejectionOf(started(server, { tokenEnv: 'TEST_SANDBOX_TOKEN' }));
    expect(missing).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/TEST_SANDBOX_TOKEN.*is not set/),
    });
  });

  test.each([503, 429])('asks again after %i, and reports it', async (status) => {
    const reported: string[] = [];
    const server = await own((_, count) => ({ status: count < 3 ? status : 200, json: ran }));
    const sandbox = await started(server, { onIncident: ({ message }) => reported.push(message) });
    expect(await sandbox.execute({ kind: 'run', code: '' })).toMatchObject({ status: 'ok' });
    expect(reported).toEqual([expect.stringMatching(/^POST http.*\/run took 3 tries\.$/)]);
  });

  test('asks again when the connection breaks', async () => {
    const server = await own((_, count) => (count === 1 ? 'cut' : { status: 200, json: ran }));
    const sandbox = await started(server);
    expect(await sandbox.execute({ kind: 'run', code: '' })).toMatchObject({ status: 'ok' });
    expect(server.requests).toHaveLength(3);
  });

  test.each<[string, DoubleAnswer]>([
    ['fails', { status: 500, json: { detail: 'The server failed.' } }],
    ['refuses the token meanwhile', { status: 401, json: { detail: 'no' } }],
    ['is another server by now', { status: 200, json: { hello: 'world' } }],
    ['answers with an unknown status', { status: 200, json: { ...ran, status: 'splendid' } }],
    ['answers with a text', { status: 200, json: 'ok' }],
  ])('gives no verdict when the server %s', async (_, answer) => {
    const server = await own(() => answer);
    const sandbox = await started(server);
    const run = await sandbox.execute({ kind: 'run', code: '' });
    expect(run).toMatchObject({ status: 'sandbox_error', stdout: '' });
    expect(run.message).toMatch(/server/);
    expect(run.message?.split(server.url)).toHaveLength(2);
    expect(run.message).toContain(
      'See that `agent-rl sandbox serve` or another server runs at sandbox.url and can be reached',
    );
    const called = await sandbox.execute({ kind: 'calls', code: '', entry: 'f', args: [[1]] });
    expect(called).toMatchObject({ status: 'sandbox_error', results: [] });
    const judged = await sandbox.execute({
      kind: 'judge',
      code: '',
      tests: { statements: ['assert 1'] },
    });
    expect(judged).toMatchObject({ status: 'sandbox_error', verdicts: [] });
    const session = sandbox.openSession();
    expect(await session.run({ code: '' })).toMatchObject({
      status: 'sandbox_error',
      alive: false,
    });
  });

  test('gives no verdict of more results or verdicts than were requested', async () => {
    const more = { ...ran, results: [{ ok: true, value: 1 }], verdicts: [{ passed: true }] };
    const sandbox = await started(await own(() => ({ status: 200, json: more })));
    const called = await sandbox.execute({ kind: 'calls', code: '', entry: 'f', args: [] });
    expect(called).toMatchObject({ status: 'sandbox_error', results: [] });
    const judged = await sandbox.execute({ kind: 'judge', code: '', tests: { statements: [] } });
    expect(judged).toMatchObject({ status: 'sandbox_error', verdicts: [] });
  });

  test('waits for its program and some patience, not for ever', async () => {
    const sandbox = await started(await own(() => undefined), { patienceS: 0.3 });
    const run = await sandbox.execute({ kind: 'run', code: '', limits: { wallS: 0.2 } });
    expect(run).toMatchObject({
      status: 'sandbox_error',
      message: expect.stringContaining('no answer within 0.5 s'),
    });
  });

  test('does not run a program of a session again', async () => {
    const server = await own(({ path }) =>
      path === '/sessions' ? { status: 200, json: { id: 'a' } } : { status: 503, json: {} },
    );
    const session = (await started(server)).openSession();
    expect(await session.run({ code: '' })).toMatchObject({
      status: 'sandbox_error',
      alive: false,
    });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/capabilities',
      '/sessions',
      '/sessions/a/run',
    ]);
  });

  test.each([0.3333, 1 / 3, 1.0001, 16.1])('asks for a program of %d s', async (wallS) => {
    const server = await own(() => ({ status: 200, json: ran }));
    const run = await (await started(server)).execute({ kind: 'run', code: '', limits: { wallS } });
    expect(run).toMatchObject({ status: 'ok' });
    expect(server.requests[1]).toMatchObject({ body: { limits: { wallS } } });
  });

  test.each<[string, DoubleAnswer]>([
    ['is gone', 'cut'],
    ['fails', { status: 500, json: {} }],
  ])('reports that a session was left on a server that %s, and goes on', async (_, answer) => {
    const reported: string[] = [];
    const server = await own(({ path, method }) => {
      if (method === 'DELETE') return answer;
      const json = path === '/sessions' ? { id: 'a' } : { ...ran, alive: true };
      return { status: 200, json };
    });
    const onIncident = ({ kind, message }: SandboxIncident): unknown =>
      reported.push(`${kind}: ${message}`);
    const session = (await started(server, { onIncident, patienceS: 1 })).openSession();
    expect(await session.run({ code: '' })).toMatchObject({ status: 'ok' });
    await session.close();
    expect(reported.at(-1)).toMatch(/^left: A session could not be closed; its server ends it/);
  });

  test('closes a session that was never opened, since no server answered', async () => {
    const sandbox = await started(await own(() => 'cut'), { patienceS: 1 });
    const session = sandbox.openSession();
    expect(await session.run({ code: '' })).toMatchObject({ status: 'sandbox_error' });
    await session.close();
    await sandbox.close();
    await session.close();
  });

  test.each<[string, DoubleAnswer, RegExp]>([
    ['refuses the token', { status: 401, json: {} }, /refuses the token/],
    ['is something else', { status: 200, json: { version: 2 } }, /nothing known/],
    ['fails', { status: 500, json: {} }, /with 500/],
    [
      'speaks another version',
      { status: 200, json: { ...capabilities, protocol: 2 } },
      /version 2/,
    ],
  ])('does not start when the server %s', async (_, answer, reason) => {
    const server = await double(() => answer);
    const error = await rejectionOf(started(server));
    expect(error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(reason),
    });
    expect(messageOf(error).split(server.url)).toHaveLength(2);
  });

  test('does not start when no server answers', async () => {
    const server = await double(() => undefined);
    await opened.pop()?.close();
    const error = await rejectionOf(
      RemoteSandbox.start({ url: server.url, workers: 1, pauseMs: 5 }),
    );
    expect(error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(
        /cannot be reached: .*\. See that `agent-rl sandbox serve` or/,
      ),
    });
    expect(messageOf(error).split(server.url)).toHaveLength(2);
  });

  test.each([
    ['localhost:8080', /begins with localhost:/],
    ['not an address', /is not an address/],
    ['ftp://host', /begins with ftp:/],
    ['http://user:hidden@host', /^(?!.*hidden).*tokenEnv/],
    ['http://host/?a=1', /must not contain \?/],
  ])('does not take the address %s', async (url, reason) => {
    expect(await rejectionOf(RemoteSandbox.start({ url, workers: 1 }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(reason),
    });
  });
});
