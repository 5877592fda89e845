import { describe, expect, test } from '@jest/globals';

import type { RunResult, Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { behindLayers } from '#agent_rl/sandbox/open-sandbox.ts';
import { RemoteSandbox } from '#agent_rl/sandbox/remote/remote-sandbox.ts';
import { serveSandbox } from '#agent_rl/sandbox/remote/serve-sandbox.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { type ScriptedSandbox, scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

const opened = closedAfterEach();

/** A remote sandbox, and before it a server of this sandbox, which both check their requests. */
async function remote(backend: Sandbox): Promise<{ sandbox: Sandbox; unchecked: Sandbox }> {
  const served = behindLayers(backend, { workers: 4 });
  const server = await serveSandbox(served, { host: '127.0.0.1', port: 0 });
  opened.push(server);
  const unchecked = await RemoteSandbox.start({ url: server.url, workers: 8, patienceS: 5 });
  opened.push(unchecked);
  return { sandbox: behindLayers(unchecked, { workers: 8 }), unchecked };
}

const output = { stdout: 'é\u0000\ufffd\u2028\n', stdoutBytes: 5_000_000_000, truncated: true };
const ended: RunResult = {
  status: 'signaled',
  exitCode: 3,
  signal: 'SIGSEGV',
  ...output,
  stderr: 'Traceback',
  stderrBytes: 9,
  wallMs: 12.5,
  cpuMs: 0.25,
  peakRssBytes: 2 ** 33,
  level: 'scripted',
  message: 'why',
};
const afar = { ...ended, level: 'remote:scripted' };
const common = { limits: { wallS: 1 / 3, memoryMiB: 64 }, seed: -(2 ** 53 - 1), owner: 'task/3' };
const odd = 'a\u0000b\ud800é\u2028';

function deep(depth: number): unknown {
  let value: unknown = { $float: 'nan' };
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { $dict: [['k', value]] };
  return value;
}

describe('Between a remote sandbox and its server', () => {
  test('requests of each kind, and what comes of them, cross unchanged but for the level', async () => {
    const value = deep(100);
    const results = [{ ok: true, value } as const, { ok: false, problem: odd } as const];
    const verdicts = [{ passed: true }, { passed: false, problem: 'AssertionError' }];
    const backend = scriptedSandbox((request) => ({
      ...ended,
      ...('args' in request && { results }),
      ...('tests' in request && { verdicts }),
    }));
    const { sandbox } = await remote(backend);
    const files = JSON.parse('{"__proto__":"eA==","a/b":""}') as Record<string, string>;
    const run = { kind: 'run', ...common, code: odd, stdin: odd, files } as const;
    const args = [[value, odd], [JSON.parse('{"__proto__":1}')]];
    const calls = { kind: 'calls', ...common, code: odd, entry: 'C.f', args } as const;
    const statements = ['assert f(1)', odd];
    const tests = { setup: odd, statements, entry: 'f', names: ['f'], classes: ['C'] };
    const judge = { kind: 'judge', ...common, code: odd, tests } as const;
    expect(await sandbox.execute(run)).toEqual(afar);
    expect(await sandbox.execute(calls)).toEqual({ ...afar, results });
    expect(await sandbox.execute(judge)).toEqual({ ...afar, verdicts });
    expect(backend.requests).toEqual([run, calls, judge]);
    expect(Object.keys((backend.requests[0] as typeof run).files)).toEqual(['__proto__', 'a/b']);
  });

  test('many requests at once each get their own answer', async () => {
    const { sandbox } = await remote(scriptedSandbox(({ code }) => ({ stdout: code })));
    const codes = Array.from({ length: 24 }, (_, i) => `print(${i})`);
    const runs = await Promise.all(codes.map((code) => sandbox.execute({ kind: 'run', code })));
    expect(runs.map(({ stdout }) => stdout)).toEqual(codes);
  });

  test('the server refuses invalid requests that a client did not check', async () => {
    const backend = scriptedSandbox(() => ({}));
    const { unchecked } = await remote(backend);
    const files = { '../x': 'eA==' };
    const refused = await unchecked.execute({ kind: 'run', code: '1', files });
    expect(refused).toMatchObject({ status: 'bad_request', stdout: '' });
    const called = { kind: 'calls', code: '', entry: 'f', args: [[{ $foo: 1 }]] } as const;
    expect(await unchecked.execute(called)).toMatchObject({ status: 'bad_request', results: [] });
    const tests = { statements: [], setup: 'x'.repeat(5 << 20) };
    const judged = await unchecked.execute({ kind: 'judge', code: '', tests });
    expect(judged).toMatchObject({ status: 'bad_request', verdicts: [] });
    const typed = await unchecked.execute({ kind: 'run', code: 5 as never });
    expect(typed).toMatchObject({ status: 'bad_request', message: 'code must be a string, got 5' });
    expect(backend.requests).toEqual([]);
  });
});

/** Sessions that repeat what they were opened with and how many programs they have run. */
function counting(): ScriptedSandbox {
  const scripted = scriptedSandbox(() => ({}));
  return {
    ...scripted,
    openSession: (request) => {
      const session = scripted.openSession(request);
      let count = 0;
      const run: typeof session.run = async (program, signal) => {
        const result = await session.run(program, signal);
        const stdout = JSON.stringify({ request, program, count: ++count });
        return { ...result, stdout, alive: program.code !== 'end' };
      };
      return { ...session, run };
    },
    get openSessions() {
      return scripted.openSessions;
    },
    get sessions() {
      return scripted.sessions;
    },
  };
}

describe('A session on a server', () => {
  test('sends its programs and gets their results, apart from other sessions', async () => {
    const backend = counting();
    const { sandbox } = await remote(backend);
    const request = { ...common, totalWallS: 60 };
    const [one, other] = [sandbox.openSession(request), sandbox.openSession()];
    expect(backend.sessions).toBe(0);
    const program = { code: odd, stdin: odd, limits: { wallS: 2 } };
    await one.run(program);
    const second = await one.run({ code: 'end' });
    expect(JSON.parse(second.stdout)).toEqual({ request, program: { code: 'end' }, count: 2 });
    expect(second).toMatchObject({ level: 'remote:scripted', alive: false });
    const first = await other.run(program);
    expect(JSON.parse(first.stdout)).toEqual({ request: { limits: {} }, program, count: 1 });
    expect(first.alive).toBe(true);
    expect(backend).toMatchObject({ sessions: 2, openSessions: 2 });
    await one.close();
    await other.close();
    expect(backend.openSessions).toBe(0);
  });

  test('passes an abort on to its program, as a request does', async () => {
    const aborted: string[] = [];
    const hang = (_: unknown, signal?: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          aborted.push('on the server');
          reject(signal.reason as Error);
        });
      });
    const openSession = () => ({ run: hang, close: async () => undefined });
    const { sandbox } = await remote({
      ...scriptedSandbox(() => ({})),
      execute: hang,
      openSession,
    });
    const stop = new AbortController();
    const running = [
      sandbox.execute({ kind: 'run', code: 'while True: pass' }, stop.signal),
      sandbox.openSession().run({ code: 'while True: pass' }, stop.signal),
    ];
    setTimeout(() => stop.abort(new Error('enough')), 200);
    const reason = expect.objectContaining({ message: 'enough' });
    const rejected = { status: 'rejected', reason };
    expect(await Promise.allSettled(running)).toEqual([rejected, rejected]);
    while (aborted.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});
