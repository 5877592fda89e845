import { describe, expect, test } from '@jest/globals';

import { messageOf } from '#agent_rl/core/errors.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';
import { RemoteSandbox } from '#agent_rl/sandbox/remote/remote-sandbox.ts';
import type { RemoteSandboxOptions } from '#agent_rl/sandbox/remote/remote-sandbox.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { type DoubleAnswer, type GotRequest, httpDouble } from '#tests/support/http-double.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const opened = closedAfterEach();

const facts = { level: 'native:ns', python: '3.11', concurrency: 2 };
const capabilities = { server: 'agent_rl', protocol: 1, ...facts };
const printed = { stdout: '42\n', stderr: '', stdoutBytes: 3, stderrBytes: 0, truncated: false };
const ran = { status: 'ok', exitCode: 0, ...printed, wallMs: 5, level: 'native:ns' };
const ok = (json: unknown): DoubleAnswer => ({ status: 200, json });
const run = { kind: 'run', code: '' } as const;

type Answer = (request: GotRequest, count: number) => DoubleAnswer | Promise<DoubleAnswer>;

/** A server of this package; `answer` counts the requests after the greeting from 1. */
async function serving(
  answer: Answer = () => ok({ ...ran, alive: true }),
  { more = {}, greeting }: { more?: object; greeting?: DoubleAnswer } = {},
) {
  const state = { isDown: false, facts: more };
  const server = await httpDouble((request, count) => {
    if (state.isDown) return 'cut';
    if (request.path === '/capabilities')
      return greeting ?? ok({ ...capabilities, ...state.facts });
    return answer(request, count - 1);
  });
  opened.push(server);
  const programs = (): number => server.requests.filter(({ path }) => path.endsWith('/run')).length;
  return Object.assign(server, { state, programs });
}

/** A server that prints its name. */
const named = (name: string, more: object = {}, answer?: Answer) =>
  serving(
    (request, count) =>
      request.path === '/sessions'
        ? ok({ id: name })
        : (answer?.(request, count) ?? ok({ ...ran, alive: true, stdout: name })),
    { more },
  );

type Urls = { url: string } | readonly { url: string }[];

async function started(servers: Urls, options: Partial<RemoteSandboxOptions> = {}) {
  const incidents: SandboxIncident[] = [];
  const waiting = new Set<() => void>();
  const sandbox = await RemoteSandbox.start({
    url: [servers].flat().map(({ url }) => url),
    workers: 2,
    pauseMs: 1,
    patienceS: 5,
    checkS: 0.05,
    onIncident: (incident) => {
      incidents.push(incident);
      for (const look of waiting) look();
    },
    ...options,
  });
  opened.push(sandbox);
  /** Waits for an incident. */
  const reported = (kind: SandboxIncident['kind'], text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (incidents.some((each) => each.kind === kind && each.message.includes(text))) resolve();
      };
      waiting.add(look);
      look();
    });
  return { sandbox, incidents, reported };
}

/** Refuses to start: the code of the error, whose message must name each server once. */
async function refused(starting: Promise<unknown>, ...servers: readonly { url: string }[]) {
  const error = await rejectionOf(starting);
  for (const { url } of servers) expect(messageOf(error).split(url)).toHaveLength(2);
  return error.code;
}
const unavailable = 'SANDBOX_UNAVAILABLE';

describe('The remote sandbox', () => {
  test('sends requests to a server of this package and says who ran the program', async () => {
    const server = await serving(() => ok(ran));
    const { sandbox } = await started(server);
    const afar = { level: 'remote:native:ns' };
    expect(sandbox.capabilities()).toEqual({ backend: 'remote', ...facts, ...afar });
    const request = { code: 'print(42)', stdin: 'x', seed: 3, limits: { wallS: 1 / 3 } };
    expect(await sandbox.execute({ kind: 'run', ...request })).toEqual({ ...ran, ...afar });
    expect(server.requests[1]).toMatchObject({ method: 'POST', path: '/run', body: request });
  });

  test('sends the token of its variable with every request and shows it nowhere else', async () => {
    const tokenEnv = 'TEST_SANDBOX_TOKEN';
    process.env[tokenEnv] = 'token-0123456789';
    const server = await serving((_, count) => ({ status: count === 1 ? 200 : 500, json: ran }));
    const { sandbox } = await started(server, { tokenEnv });
    await sandbox.execute(run);
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(Array(2).fill('Bearer token-0123456789'));
    const failed = await sandbox.execute(run);
    expect(failed.status).toBe('sandbox_error');
    expect(JSON.stringify(failed)).not.toContain('token-0123456789');
    delete process.env[tokenEnv];
    const missing = await rejectionOf(started(server, { tokenEnv }));
    expect(missing).toMatchObject(errorOf('CONFIG_INVALID', tokenEnv));
  });

  test.each<[string, DoubleAnswer]>([
    ['503', { status: 503, json: {} }],
    ['429', { status: 429, json: {} }],
    ['a lost connection', 'cut'],
  ])('retries after %s, and reports it', async (_, answer) => {
    const server = await serving((_request, count) => (count < 3 ? answer : ok(ran)));
    const { sandbox, incidents } = await started(server);
    expect(await sandbox.execute(run)).toMatchObject({ status: 'ok' });
    expect(server.programs()).toBe(3);
    expect(incidents.map(({ kind }) => kind)).toEqual(['retry']);
  });

  test.each<[string, DoubleAnswer]>([
    ['fails', { status: 500, json: { detail: 'The server failed.' } }],
    ['now rejects the token', { status: 401, json: { detail: 'no' } }],
    ['answers with an unknown status', ok({ ...ran, status: 'splendid' })],
    ['answers with a text', ok('ok')],
  ])('gives no verdict when the server %s', async (_, answer) => {
    const server = await serving(() => answer);
    const { sandbox } = await started(server);
    const failed = await sandbox.execute(run);
    expect(failed).toMatchObject({ status: 'sandbox_error', stdout: '' });
    expect(failed.message?.split(server.url)).toHaveLength(2);
    expect(failed.message).toContain('agent-rl sandbox serve');
    const called = await sandbox.execute({ kind: 'calls', code: '', entry: 'f', args: [[1]] });
    expect(called).toMatchObject({ status: 'sandbox_error', results: [] });
    const tests = { statements: ['assert 1'] };
    const judged = await sandbox.execute({ kind: 'judge', code: '', tests });
    expect(judged).toMatchObject({ status: 'sandbox_error', verdicts: [] });
    const lost = { status: 'sandbox_error', alive: false };
    expect(await sandbox.openSession().run({ code: '' })).toMatchObject(lost);
  });

  test('gives no verdict of more results or verdicts than were requested', async () => {
    const more = { ...ran, results: [{ ok: true, value: 1 }], verdicts: [{ passed: true }] };
    const { sandbox } = await started(await serving(() => ok(more)));
    const called = await sandbox.execute({ kind: 'calls', code: '', entry: 'f', args: [] });
    expect(called).toMatchObject({ status: 'sandbox_error', results: [] });
    const judged = await sandbox.execute({ kind: 'judge', code: '', tests: { statements: [] } });
    expect(judged).toMatchObject({ status: 'sandbox_error', verdicts: [] });
  });

  test('waits as long as its program may take and its patience', async () => {
    const { sandbox } = await started(await serving(() => undefined), { patienceS: 0.3 });
    const late = await sandbox.execute({ ...run, limits: { wallS: 0.2 } });
    expect(late.status).toBe('sandbox_error');
    expect(late.message).toContain('0.5 s');
  });

  test('does not retry a program of a session', async () => {
    const server = await serving(({ path }) =>
      path === '/sessions' ? ok({ id: 'a' }) : { status: 503, json: {} },
    );
    const { sandbox } = await started(server);
    const lost = { status: 'sandbox_error', alive: false };
    expect(await sandbox.openSession().run({ code: '' })).toMatchObject(lost);
    expect(server.programs()).toBe(1);
  });

  test.each<[string, DoubleAnswer]>([
    ['is gone', 'cut'],
    ['fails', { status: 500, json: {} }],
  ])('reports a session that is left on a server that %s', async (_, answer) => {
    const server = await named('a', {}, ({ method }) =>
      method === 'DELETE' ? answer : ok({ ...ran, alive: true }),
    );
    const { sandbox, incidents } = await started(server, { patienceS: 1 });
    const session = sandbox.openSession();
    expect(await session.run({ code: '' })).toMatchObject({ status: 'ok' });
    await session.close();
    expect(incidents.at(-1)?.kind).toBe('left');
  });

  test('closes a session that no server opened', async () => {
    const { sandbox } = await started(await serving(() => 'cut'), { patienceS: 1 });
    const session = sandbox.openSession();
    expect(await session.run({ code: '' })).toMatchObject({ status: 'sandbox_error' });
    await session.close();
    await sandbox.close();
    await session.close();
  });

  test.each<[string, DoubleAnswer]>([
    ['rejects the token', { status: 401, json: {} }],
    ['is something else', ok({ version: 2 })],
    ['fails', { status: 500, json: {} }],
    ['uses another protocol version', ok({ ...capabilities, protocol: 2 })],
    ['does not answer', 'cut'],
  ])('does not start when the server %s', async (_, greeting) => {
    const server = await serving(undefined, { greeting });
    expect(await refused(started(server), server)).toBe(unavailable);
  });

  test.each([
    ['localhost:8080', /localhost:/],
    ['not an address', /not an address/],
    ['ftp://host', /ftp:/],
    ['http://user:hidden@host', /^(?!.*hidden).*tokenEnv/],
    ['http://host/?a=1', /\?/],
  ])('refuses the address %s', async (url, text) => {
    const error = await rejectionOf(RemoteSandbox.start({ url, workers: 1 }));
    expect(error).toMatchObject(errorOf('CONFIG_INVALID', text));
  });
});

/** An answer that comes when the test says so. */
function held(): { answer: Answer; release: () => void } {
  let release!: () => void;
  const free = new Promise<void>((resolve) => (release = resolve));
  return { release, answer: () => free.then(() => ok(ran)) };
}

async function pair() {
  const [a, b] = [await named('a'), await named('b')];
  return { a, b, ...(await started([a, b])) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('The remote sandbox with several servers', () => {
  test('distributes programs by the places of the servers', async () => {
    const { answer, release } = held();
    const small = await named('small', { concurrency: 1 }, answer);
    const large = await named('large', { concurrency: 3 }, answer);
    const { sandbox } = await started([small, large], { workers: 8 });
    const all = Promise.all(Array.from({ length: 8 }, () => sandbox.execute(run)));
    // 1 and 3 places: two and six of eight programs.
    while (small.programs() + large.programs() < 8) await turn();
    expect([small.programs(), large.programs()]).toEqual([2, 6]);
    release();
    expect((await all).map(({ status }) => status)).toEqual(Array(8).fill('ok'));
  });

  test('leaves out a server that is gone, and uses it again when it is back', async () => {
    const { a, sandbox, reported, incidents } = await pair();
    a.state.isDown = true;
    expect(await sandbox.execute(run)).toMatchObject({ status: 'ok', stdout: 'b' });
    const moved = incidents.filter(({ kind }) => kind === 'moved').map(({ message }) => message);
    expect(moved).toEqual([expect.stringContaining(a.url)]);
    const before = a.programs();
    expect(await sandbox.execute(run)).toMatchObject({ stdout: 'b' });
    expect(a.programs()).toBe(before);
    a.state.isDown = false;
    await reported('server', `${a.url} is back`);
    expect(await sandbox.execute(run)).toMatchObject({ stdout: 'a' });
  });

  test('moves the programs of a server that stops answering', async () => {
    const [hanging, well] = [await named('a', {}, held().answer), await named('b')];
    const { sandbox, reported } = await started([hanging, well], { patienceS: 600 });
    const waiting = sandbox.execute(run);
    while (hanging.programs() === 0) await turn();
    hanging.state.isDown = true;
    expect(await waiting).toMatchObject({ status: 'ok', stdout: 'b' });
    await reported('moved', 'given up');
  });

  test('gives no verdict when no server answers, and names each', async () => {
    const { a, b, sandbox } = await pair();
    a.state.isDown = true;
    b.state.isDown = true;
    const { status, message } = await sandbox.execute(run);
    expect(status).toBe('sandbox_error');
    for (const { url } of [a, b]) expect(message).toContain(url);
  });

  test('does not use a server that came back as another one', async () => {
    const { a, sandbox, reported, incidents } = await pair();
    a.state.facts = { python: '3.12' };
    await reported(
      'server',
      'native:ns with Python 3.11 at the start of the run, but now offers native:ns with Python 3.12',
    );
    expect(await sandbox.execute(run)).toMatchObject({ stdout: 'b' });
    expect(incidents.map(({ kind }) => kind)).toEqual(['server']);
  });

  test('keeps a session on its server, and loses it with the server', async () => {
    const { a, sandbox, reported } = await pair();
    const session = sandbox.openSession();
    for (const _ of [1, 2])
      expect(await session.run({ code: '' })).toMatchObject({ stdout: 'a', alive: true });
    // The second session goes to the server without sessions.
    expect(await sandbox.openSession().run({ code: '' })).toMatchObject({ stdout: 'b' });
    a.state.isDown = true;
    const lost = await session.run({ code: '' });
    expect(lost).toMatchObject({ status: 'sandbox_error', alive: false });
    expect(lost.message).toContain('session and its variables are lost');
    await reported('server', a.url);
    expect(await sandbox.execute(run)).toMatchObject({ stdout: 'b' });
    const next = await sandbox.openSession().run({ code: '' });
    expect(next).toMatchObject({ stdout: 'b', alive: true });
  });

  test('opens a session on the next server if the first is gone', async () => {
    const { a, sandbox } = await pair();
    a.state.isDown = true;
    const first = await sandbox.openSession().run({ code: '' });
    expect(first).toMatchObject({ stdout: 'b', alive: true });
  });

  test('does not ask another server for a caller who has left', async () => {
    const [a, b] = [await named('a', {}, held().answer), await named('b')];
    const { sandbox, incidents } = await started([a, b], { checkS: 600 });
    const stop = new AbortController();
    const running = sandbox.execute(run, stop.signal);
    while (a.programs() === 0) await turn();
    stop.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    expect([b.programs(), incidents]).toEqual([0, []]);
  });

  test.each([{ level: 'pyodide' }, { python: '3.9' }, { modules: ['numpy'] }])(
    'refuses servers that differ: %j',
    async (other) => {
      const [a, b] = [await named('a'), await named('b', other)];
      expect(await refused(started([a, b]), a, b)).toBe(unavailable);
    },
  );

  test('refuses a server that does not answer, and one that is listed twice', async () => {
    const [a, b] = [await named('a'), await named('b')];
    b.state.isDown = true;
    expect(await refused(started([a, b]), b)).toBe(unavailable);
    expect(await refused(started([a, { url: `${a.url}/` }]), a)).toBe('CONFIG_INVALID');
  });
});
