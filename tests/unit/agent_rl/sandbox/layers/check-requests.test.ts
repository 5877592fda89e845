import { describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { checkRequests } from '#agent_rl/sandbox/layers/check-requests.ts';
import { layered } from '#agent_rl/sandbox/layers/layer.ts';
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
    const args = [[1], [1, value()]];
    const result = await sandbox.execute(anything({ kind: 'calls', code: '', entry: 'f', args }));
    expect(result).toMatchObject({ status: 'bad_request', results: [] });
    expect(result.message).toMatch(message);
    expect(asked.requests).toEqual([]);
  });

  test('passes on a valid request unchanged', async () => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = checked(asked);
    const common = { code: '', limits: { wallS: 0.01, memoryMiB: 64 }, seed: -1, owner: 'a' };
    const files = { a: 'eA==', 'b/a': '', 'b/c': '' };
    const run = { kind: 'run', ...common, stdin: '', files } as const;
    const args = [[], [1, 'x', { a: [null] }]];
    const calls = { kind: 'calls', ...common, entry: 'f', args } as const;
    const tests = { setup: '', statements: ['1'], entry: 'f', names: ['f'], classes: ['F'] };
    const judge = { kind: 'judge', ...common, tests } as const;
    const all = [run, calls, judge] as const;
    for (const one of all) await sandbox.execute(one);
    expect(asked.requests).toEqual(all);
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
    for (const program of [undefined, { code: 5 }, { code: '', limits: { wallS: '5' } }]) {
      const refused = { status: 'bad_request', alive: true };
      expect(await session.run(anything(program))).toMatchObject(refused);
    }
    expect(await session.run({ code: '' })).toMatchObject({ status: 'ok', stdout: '1' });
    await session.close();
    expect(asked.openSessions).toBe(0);
  });
});
