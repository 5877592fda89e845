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
  for (const one of opened.splice(0).toReversed()) await one.close();
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
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  truncated: false,
  wallMs: 5,
  level: 'native:ns',
};

type Answer = (request: GotRequest) => DoubleAnswer | Promise<DoubleAnswer>;

/** A server that says this of itself, or answers nothing at all while it is down, and prints its name. */
async function named(name: string, facts: object = {}, answer?: Answer) {
  const state: { isDown: boolean; facts: object } = { isDown: false, facts };
  const server: HttpDouble = await httpDouble((request) => {
    if (state.isDown) return 'cut';
    if (request.path === '/capabilities')
      return { status: 200, json: { ...capabilities, ...state.facts } };
    if (request.path === '/sessions') return { status: 200, json: { id: name } };
    return answer === undefined
      ? { status: 200, json: { ...ran, alive: true, stdout: name } }
      : answer(request);
  });
  opened.push(server);
  const programs = (): number =>
    server.requests.filter(({ path }) => path === '/run' || path.endsWith('/run')).length;
  return Object.assign(server, { state, programs });
}

async function started(
  servers: readonly HttpDouble[],
  options: Partial<RemoteSandboxOptions> = {},
) {
  const incidents: SandboxIncident[] = [];
  const seen = new Set<() => void>();
  const sandbox = await RemoteSandbox.start({
    url: servers.map(({ url }) => url),
    workers: 8,
    pauseMs: 1,
    patienceS: 5,
    checkS: 0.05,
    onIncident: (incident) => {
      incidents.push(incident);
      for (const look of seen) look();
    },
    ...options,
  });
  opened.push(sandbox);
  /** Waits until the log has a line. */
  const told = (text: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (incidents.some(({ message }) => text.test(message))) resolve();
      };
      seen.add(look);
      look();
    });
  const run = async () => sandbox.execute({ kind: 'run', code: '' });
  return { sandbox, incidents, told, run };
}

/** An answer that comes when the test says so. */
function held(): { answer: Answer; release: () => void } {
  let release!: () => void;
  const free = new Promise<void>((resolve) => (release = resolve));
  return {
    release,
    answer: async () => {
      await free;
      return { status: 200, json: ran };
    },
  };
}

describe('Several servers of a sandbox', () => {
  test('each get programs by the places they have', async () => {
    const { answer, release } = held();
    const small = await named('small', { concurrency: 1 }, answer);
    const large = await named('large', { concurrency: 3 }, answer);
    const { run } = await started([small, large]);
    const all = Promise.all(Array.from({ length: 8 }, run));
    // 1 and 3 places: of eight programs two and six.
    while (small.programs() + large.programs() < 8) await new Promise(setImmediate);
    expect([small.programs(), large.programs()]).toEqual([2, 6]);
    release();
    expect((await all).map(({ status }) => status)).toEqual(Array(8).fill('ok'));
  });

  test('do the work of one that is gone, which is left out, and used again when it is back', async () => {
    const [a, b] = [await named('a'), await named('b')];
    const { run, told, incidents } = await started([a, b]);
    a.state.isDown = true;
    expect(await run()).toMatchObject({ status: 'ok', stdout: 'b' });
    const moved = incidents.filter(({ kind }) => kind === 'moved').map(({ message }) => message);
    expect(moved).toEqual([expect.stringContaining(`on another server of the sandbox: `)]);
    expect(moved[0]).toContain(`${a.url} cannot be reached`);
    const before = a.programs();
    expect(await run()).toMatchObject({ stdout: 'b' });
    expect(a.programs()).toBe(before);
    a.state.isDown = false;
    await told(new RegExp(`server ${a.url} answers and is used again`));
    expect(await run()).toMatchObject({ stdout: 'a' });
  });

  test('take over what one of them stopped answering in the middle of', async () => {
    const hanging = await named('a', {}, () => undefined);
    const well = await named('b');
    const { run, told } = await started([hanging, well], { patienceS: 600 });
    const waiting = run();
    while (hanging.programs() === 0) await new Promise(setImmediate);
    hanging.state.isDown = true;
    expect(await waiting).toMatchObject({ status: 'ok', stdout: 'b' });
    await told(/on another server of the sandbox: given up/);
  });

  test('give no verdict when none answers, and name each', async () => {
    const [a, b] = [await named('a'), await named('b')];
    const { run } = await started([a, b]);
    a.state.isDown = true;
    b.state.isDown = true;
    const { status, message } = await run();
    expect(status).toBe('sandbox_error');
    expect(message).toContain(`${a.url} cannot be reached`);
    expect(message).toContain(`${b.url} cannot be reached`);
  });

  test('are one server of the same kind each: one that came back as another is not used', async () => {
    const [a, b] = [await named('a'), await named('b')];
    const { run, told, incidents } = await started([a, b]);
    a.state.facts = { python: '3.12' };
    await told(
      /left out .*it was native:ns with Python 3\.11 and now is native:ns with Python 3\.12/,
    );
    expect(await run()).toMatchObject({ stdout: 'b' });
    expect(incidents.map(({ kind }) => kind)).toEqual(['server']);
  });

  test('keep a session where it began, and its variables are lost with its server', async () => {
    const [a, b] = [await named('a'), await named('b')];
    const { sandbox, run, told } = await started([a, b]);
    const session = sandbox.openSession();
    for (const _ of [1, 2])
      expect(await session.run({ code: '' })).toMatchObject({ stdout: 'a', alive: true });
    // The second session goes where there is none yet.
    const second = sandbox.openSession();
    expect(await second.run({ code: '' })).toMatchObject({ stdout: 'b' });
    a.state.isDown = true;
    const lost = await session.run({ code: '' });
    expect(lost).toMatchObject({ status: 'sandbox_error', alive: false });
    expect(lost.message).toContain('The variables of the session are lost with it.');
    await told(/is left out/);
    expect(await run()).toMatchObject({ stdout: 'b' });
    const next = sandbox.openSession();
    expect(await next.run({ code: '' })).toMatchObject({ stdout: 'b', alive: true });
  });

  test('open a session on the next one where the first is gone before its first program', async () => {
    const [a, b] = [await named('a'), await named('b')];
    const { sandbox } = await started([a, b]);
    a.state.isDown = true;
    const session = sandbox.openSession();
    expect(await session.run({ code: '' })).toMatchObject({ stdout: 'b', alive: true });
  });

  test('are not asked any more by a caller who has left', async () => {
    const [a, b] = [await named('a', {}, () => undefined), await named('b')];
    const { sandbox, incidents } = await started([a, b], { checkS: 600 });
    const stop = new AbortController();
    const running = sandbox.execute({ kind: 'run', code: '' }, stop.signal);
    while (a.programs() === 0) await new Promise(setImmediate);
    stop.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    expect([b.programs(), incidents]).toEqual([0, []]);
  });

  test.each<[string, object, RegExp]>([
    [
      'level',
      { level: 'pyodide' },
      /is native:ns with Python 3\.11; .* is pyodide with Python 3\.11/,
    ],
    ['Python', { python: '3.9' }, /with Python 3\.11; .*with Python 3\.9/],
    ['modules', { modules: ['numpy'] }, /Python 3\.11; .*with Python 3\.11 and numpy/],
  ])('are refused where they differ in %s, each named', async (_, facts, text) => {
    const [a, b] = [await named('a'), await named('b', facts)];
    const error = await rejectionOf(started([a, b]));
    expect(error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(text),
    });
    for (const { url } of [a, b]) expect(messageOf(error)).toContain(url);
  });

  test('are refused where one does not answer at the start, or is named twice', async () => {
    const [a, b] = [await named('a'), await named('b')];
    b.state.isDown = true;
    expect(await rejectionOf(started([a, b]))).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(b.url),
    });
    expect(await rejectionOf(started([a, { ...a, url: `${a.url}/` }]))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `sandbox.url names ${a.url} twice. Name each server once.`,
    });
  });
});
