import { describe, expect, jest, test } from '@jest/globals';

import type { RunResult } from '../../../../../agent_rl/core/services/sandbox.ts';
import { RememberingSandbox } from '../../../../../agent_rl/sandbox/layers/remembering-sandbox.ts';
import { scriptedSandbox } from '../../../../support/scripted-sandbox.ts';

const result = (over: Partial<RunResult>): RunResult => ({
  status: 'ok',
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  truncated: false,
  wallMs: 1,
  level: 'scripted',
  ...over,
});

function remembering(answer: (code: string) => Partial<RunResult>) {
  const ran: string[] = [];
  const sandbox = new RememberingSandbox({
    ...scriptedSandbox(() => ({})),
    run: async ({ code }) => {
      ran.push(code);
      return result(answer(code));
    },
  });
  return { sandbox, ran };
}

describe('RememberingSandbox', () => {
  test('runs equal requests once, also while the first is under way', async () => {
    const { sandbox, ran } = remembering(() => ({ stdout: '1' }));
    const [a, b] = await Promise.all([sandbox.run({ code: 'x' }), sandbox.run({ code: 'x' })]);
    expect((await sandbox.run({ code: 'x' })).stdout).toBe('1');
    expect([a.stdout, b.stdout, ran]).toEqual(['1', '1', ['x']]);
    expect(sandbox.counts).toEqual({ requests: 3, repeats: 2 });
  });

  test('tells apart code, input, seed and limits', async () => {
    const { sandbox, ran } = remembering(() => ({}));
    await sandbox.run({ code: 'x' });
    await sandbox.run({ code: 'x', stdin: '1' });
    await sandbox.run({ code: 'x', seed: 1 });
    await sandbox.run({ code: 'x', limits: { wallS: 1 } });
    expect(ran).toHaveLength(4);
  });

  test('tells apart what is called owner within a request', async () => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = new RememberingSandbox(asked);
    for (const owner of ['ann', 'robert']) {
      await sandbox.calls({ code: 'x', entry: 'f', args: [[{ owner }]] });
      await sandbox.run({ code: 'x', files: { owner } });
      await sandbox.judge({ code: 'x', tests: { statements: [], setup: owner } });
    }
    expect(asked.requests).toHaveLength(6);
  });

  test('answers a request of one rollout to another', async () => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = new RememberingSandbox(asked);
    await sandbox.run({ code: 'x', owner: 'one' });
    await sandbox.run({ code: 'x', owner: 'other' });
    expect(asked.requests).toHaveLength(1);
  });

  test.each<[string, unknown, unknown]>([
    ['the order of the keys of a dictionary', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['a key called __proto__', JSON.parse('{"__proto__":1}'), {}],
    ['None and the text of it', null, 'null'],
    ['a number and its text', 1, '1'],
    ['a list and its text', [1], '[1]'],
  ])('tells apart arguments by %s', async (_name, one, other) => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = new RememberingSandbox(asked);
    for (const value of [one, other])
      await sandbox.calls({ code: 'x', entry: 'f', args: [[value]] });
    expect(asked.requests).toHaveLength(2);
  });

  test.each(['ok', 'error', 'bad_request'] as const)(
    'repeats the first answer with status %s, even of a program that would now answer otherwise',
    async (status) => {
      let clock = 0;
      const { sandbox } = remembering(() => ({ status, stdout: `${clock++}`, wallMs: clock }));
      const first = await sandbox.run({ code: 'print(time.time())' });
      expect(await sandbox.run({ code: 'print(time.time())' })).toEqual(first);
    },
  );

  test('does not keep what is larger than is worth it', async () => {
    const { sandbox, ran } = remembering(() => ({ stdout: 'x'.repeat(4096) }));
    await sandbox.run({ code: 'x' });
    await sandbox.run({ code: 'x' });
    expect(ran).toHaveLength(2);
  });

  test('keeps nothing of a request that grows with it', async () => {
    const kept = jest.spyOn(Map.prototype, 'set');
    const { sandbox } = remembering(() => ({}));
    await sandbox.run({ code: 'x', stdin: '1234567 '.repeat(250_000) });
    const lengths = kept.mock.calls.flatMap((given) =>
      given.filter((value) => typeof value === 'string').map((text) => text.length),
    );
    kept.mockRestore();
    expect(lengths.length).toBeGreaterThan(0);
    expect(Math.max(...lengths)).toBeLessThan(100);
  });

  test.each(['timeout', 'memory_limit', 'crashed', 'sandbox_error'] as const)(
    'does not keep a %s, which may not come again',
    async (status) => {
      const { sandbox, ran } = remembering(() => ({ status }));
      await sandbox.run({ code: 'x' });
      await sandbox.run({ code: 'x' });
      expect(ran).toHaveLength(2);
    },
  );

  test('a cancelled caller leaves the others their answer', async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const sandbox = new RememberingSandbox({
      ...scriptedSandbox(() => ({})),
      run: async () => {
        await finished;
        return result({ stdout: '1' });
      },
    });
    const abort = new AbortController();
    const cancelled = sandbox.run({ code: 'x' }, abort.signal);
    const other = sandbox.run({ code: 'x' });
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    finish();
    expect((await other).stdout).toBe('1');
  });
});
