import { describe, expect, jest, test } from '@jest/globals';

import type { RunResult, Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { layered } from '#agent_rl/sandbox/layers/layer.ts';
import { RememberedResults, requestKey } from '#agent_rl/sandbox/layers/remember-results.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';

const remembered = (sandbox: Sandbox): Sandbox => layered(sandbox, [new RememberedResults()]);

function remembering(answer: (code: string) => Partial<RunResult>) {
  const ran: string[] = [];
  const scripted = scriptedSandbox(({ code }) => {
    ran.push(code);
    return answer(code);
  });
  const memory = new RememberedResults();
  return { sandbox: layered(scripted, [memory]), memory, ran };
}

describe('The memory of results', () => {
  test('runs equal requests once, even while the first is in progress', async () => {
    const { sandbox, memory, ran } = remembering(() => ({ stdout: '1' }));
    const ask = async () => (await sandbox.execute({ kind: 'run', code: 'x' })).stdout;
    const together = await Promise.all([ask(), ask()]);
    expect([...together, await ask(), ran]).toEqual(['1', '1', '1', ['x']]);
    expect(memory.counts).toEqual({ requests: 3, repeats: 2 });
  });

  test.each<[string, unknown, unknown]>([
    ['the order of the keys of a dictionary', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['a key called __proto__', JSON.parse('{"__proto__":1}'), {}],
    ['None and the text of it', null, 'null'],
    ['a number and its text', 1, '1'],
    ['a list and its text', [1], '[1]'],
  ])('distinguishes arguments by %s', async (_name, one, other) => {
    const asked = scriptedSandbox(() => ({}));
    const sandbox = remembered(asked);
    for (const value of [one, other])
      await sandbox.execute({ kind: 'calls', code: 'x', entry: 'f', args: [[value]] });
    expect(asked.requests).toHaveLength(2);
  });

  test.each(['ok', 'error', 'bad_request'] as const)(
    'repeats the first answer with status %s, even if the program would now answer otherwise',
    async (status) => {
      let clock = 0;
      const { sandbox } = remembering(() => ({ status, stdout: `${clock++}`, wallMs: clock }));
      const first = await sandbox.execute({ kind: 'run', code: 'print(time.time())' });
      expect(await sandbox.execute({ kind: 'run', code: 'print(time.time())' })).toEqual(first);
    },
  );

  test('does not keep large answers', async () => {
    const { sandbox, ran } = remembering(() => ({ stdout: 'x'.repeat(4096) }));
    await sandbox.execute({ kind: 'run', code: 'x' });
    await sandbox.execute({ kind: 'run', code: 'x' });
    expect(ran).toHaveLength(2);
  });

  test('keeps no more of a large request than of a small one', async () => {
    const kept = jest.spyOn(Map.prototype, 'set');
    const { sandbox } = remembering(() => ({}));
    await sandbox.execute({ kind: 'run', code: 'x', stdin: '1234567 '.repeat(250_000) });
    const lengths = kept.mock.calls.flatMap((given) =>
      given.filter((value) => typeof value === 'string').map((text) => text.length),
    );
    kept.mockRestore();
    expect(lengths.length).toBeGreaterThan(0);
    expect(Math.max(...lengths)).toBeLessThan(100);
  });

  test.each(['timeout', 'memory_limit', 'crashed', 'sandbox_error'] as const)(
    'does not keep a %s, which may not recur',
    async (status) => {
      const { sandbox, ran } = remembering(() => ({ status }));
      await sandbox.execute({ kind: 'run', code: 'x' });
      await sandbox.execute({ kind: 'run', code: 'x' });
      expect(ran).toHaveLength(2);
    },
  );

  test('answers the other callers when one is cancelled', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const scripted = scriptedSandbox(() => ({ stdout: '1' }));
    const execute: Sandbox['execute'] = (asked) => finished.then(() => scripted.execute(asked));
    const sandbox = remembered({ ...scripted, execute });
    const abort = new AbortController();
    const cancelled = sandbox.execute({ kind: 'run', code: 'x' }, abort.signal);
    const other = sandbox.execute({ kind: 'run', code: 'x' });
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    finish();
    expect((await other).stdout).toBe('1');
  });
});

describe('The key of a request', () => {
  test('distinguishes kind, code, input, seed and limits, and values called owner, but not its owner', () => {
    const request = { kind: 'run', code: 'x' };
    const calls = { kind: 'calls', code: 'x', entry: 'f' };
    const different = [
      request,
      { ...request, code: 'y' },
      { ...request, kind: 'judge' },
      { ...request, stdin: '1' },
      { ...request, seed: 1 },
      { ...request, limits: { wallS: 1 } },
      ...['ann', 'robert'].flatMap((owner) => [
        { ...request, files: { owner } },
        { ...calls, args: [[{ owner }]] },
        { kind: 'judge', code: 'x', tests: { statements: [], setup: owner } },
      ]),
    ];
    const keys = [...different, { ...request, owner: 'ann' }].map((one) =>
      requestKey(one as never),
    );
    expect(new Set(keys).size).toBe(different.length);
    expect(keys.at(-1)).toBe(keys[0]);
  });

  test('distinguishes large requests by their last character', () => {
    const stdin = 'x'.repeat(2_000_000);
    const keys = ['0', '1'].map((last) =>
      requestKey({ kind: 'run', code: '', stdin: stdin + last }),
    );
    expect(new Set(keys).size).toBe(2);
  });

  test('distinguishes broken halves of characters', () => {
    const keys = ['\ud800', '\ud801', '\ufffd'].map((code) => requestKey({ kind: 'run', code }));
    expect(new Set(keys).size).toBe(3);
  });
});
