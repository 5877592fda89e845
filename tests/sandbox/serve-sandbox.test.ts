import { expect, test } from '@jest/globals';

import { openSandbox } from '#agent_rl/sandbox/open-sandbox.ts';
import { serveSandbox } from '#agent_rl/jobs/machine/serve-sandbox.ts';
import { unhurriedLimits } from '../support/sandbox-limits.ts';

test('A served sandbox can be used by another run', async () => {
  const stop = new AbortController();
  let ready!: (text: string) => void;
  const printed = new Promise<string>((resolve) => (ready = resolve));
  process.env['TEST_SERVED_TOKEN'] = 'token-of-the-test';
  const tokenEnv = 'TEST_SERVED_TOKEN';
  const backend = { type: 'pyodide', preload: [], workers: 1 } as const;
  const said = { print: ready, warn: () => undefined };
  const address = { host: '127.0.0.1', port: 0, tokenEnv };
  const serving = serveSandbox({ ...backend, ...address, ...said, signal: stop.signal });
  try {
    const text = await printed;
    expect(text).toMatch(/^Sandbox pyodide\S*, Python 3\.14, 1 program in parallel, at http:/);
    const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? '';
    const limits = unhurriedLimits;
    const sandbox = await openSandbox({ type: 'remote', url, tokenEnv, workers: 1, limits });
    const run = await sandbox.execute({ kind: 'run', code: 'print(6 * 7)' });
    expect(run).toMatchObject({ status: 'ok', stdout: '42\n' });
    expect(run.level).toMatch(/^remote:pyodide/);
    expect(sandbox.tier).toBe('remote');
    await sandbox.close();
    stop.abort();
    expect(await serving).toEqual({ url, tier: 'pyodide', answers: { 200: 2 } });
  } finally {
    stop.abort();
    await serving;
  }
  delete process.env['TEST_SERVED_TOKEN'];
});
