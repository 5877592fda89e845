import { describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { checkRequests } from '#agent_rl/sandbox/layers/check-requests.ts';
import { layered } from '#agent_rl/sandbox/layers/layer.ts';
import { RememberedResults } from '#agent_rl/sandbox/layers/remember-results.ts';
import { badArguments, badRequests } from '#tests/support/bad-requests.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

const anything = (value: unknown): never => value as never;

const checked = (sandbox: Sandbox): Sandbox => layered(sandbox, [checkRequests('scripted')]);

describe('The request check', () => {
  test.each(badRequests)('refuses %s', async (_name, request, message) => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = checked(asked);
    const result = await sandbox.execute(request);
    expect(result).toMatchObject({ status: 'bad_request', stdout: '', level: 'scripted' });
    expect(result.message).toMatch(message);
    expect(asked.requests).toEqual([]);
  });

  test.each(badArguments)('refuses %s as an argument', async (_name, value, message) => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = checked(asked);
    const result = await sandbox.execute({
      kind: 'calls',
      code: '',
      entry: 'f',
      args: [[1], [1, value()]],
    });
    expect(result).toMatchObject({ status: 'bad_request', results: [] });
    expect(result.message).toMatch(message);
    expect(asked.requests).toEqual([]);
  });

  test('passes on a valid request unchanged', async () => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = checked(asked);
    const common = { limits: { wallS: 0.01, memoryMiB: 64 }, seed: -1, owner: 'a' };
    const run = { ...common, code: '', stdin: '', files: { a: 'eA==', 'b/a': '', 'b/c': '' } };
    const calls = { ...common, code: '', entry: 'f', args: [[], [1, 'x', { a: [null] }]] };
    const tests = { setup: '', statements: ['1'], entry: 'f', names: ['f'], classes: ['F'] };
    const judge = { ...common, code: '', tests };
    await sandbox.execute({ kind: 'run', ...run });
    await sandbox.execute({ kind: 'calls', ...calls });
    await sandbox.execute({ kind: 'judge', ...judge });
    expect(asked.requests).toEqual([
      { kind: 'run', ...run },
      { kind: 'calls', ...calls },
      { kind: 'judge', ...judge },
    ]);
  });

  test('refuses an invalid session, and an invalid program in a session that lives on', async () => {
    const asked = scriptedSandbox(() => ({ stdout: '1' }));
    const sandbox = checked(asked);
    for (const [request, message] of [
      [{ totalWallS: '60' }, /^totalWallS is "60"; it must be a number from 0\.01 to 3600 s\.$/],
      [{ limits: { wallS: Number.NaN } }, /^limits\.wallS is NaN/],
      [{ seed: 'abc' }, /^seed is "abc"/],
      [{ code: '' }, /unknown field "code"/],
      [null, /^the request must be an object, got null/],
    ] as const) {
      expect(() => sandbox.openSession(anything(request))).toThrow(message);
    }
    expect(asked.sessions).toBe(0);
    const session = sandbox.openSession();
    for (const program of [
      undefined,
      { code: 5 },
      { code: null },
      { code: ['print(1)'] },
      { code: 'x = 1\n'.repeat(350_000) },
      { code: '', limits: { wallS: '5' } },
    ]) {
      expect(await session.run(anything(program))).toMatchObject({
        status: 'bad_request',
        alive: true,
      });
    }
    expect(await session.run({ code: '' })).toMatchObject({ status: 'ok', stdout: '1' });
    await session.close();
    expect(asked.openSessions).toBe(0);
  });

  test('refuses requests that the memory of results would confuse with others', async () => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = layered(asked, [checkRequests('scripted'), new RememberedResults()]);
    for (const [value, status] of [
      [null, 'ok'],
      [undefined, 'bad_request'],
      [Number.NaN, 'bad_request'],
      [new Date(0), 'bad_request'],
      ['1970-01-01T00:00:00.000Z', 'ok'],
    ] as const) {
      const result = await sandbox.execute({
        kind: 'calls',
        code: 'x',
        entry: 'f',
        args: [[value]],
      });
      expect(result.status).toBe(status);
    }
    expect(asked.requests).toHaveLength(2);
  });
});
