import { describe, expect, test } from '@jest/globals';

import type { AssertTests, RunResult } from '#agent_rl/core/services/sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const anything = (value: unknown): never => value as never;
const half = '\ud800';

/** What every way of running a program makes of this code. */
const ways = ['run', 'calls', 'judge', 'session'] as const;

describe('Odd input', () => {
  const sandbox = startedSandbox();

  async function ran(way: (typeof ways)[number], code: string): Promise<RunResult> {
    if (way === 'run') return await sandbox().execute({ kind: 'run', code });
    if (way === 'calls')
      return await sandbox().execute({ kind: 'calls', code, entry: 'f', args: [[1]] });
    if (way === 'judge')
      return await sandbox().execute({ kind: 'judge', code, tests: { statements: ['f(1)'] } });
    const session = sandbox().openSession();
    try {
      return await session.run({ code });
    } finally {
      await session.close();
    }
  }

  const isWell = async (): Promise<void> =>
    expect(await sandbox().execute({ kind: 'run', code: 'print(6 * 7)' })).toMatchObject({
      stdout: '42\n',
    });

  test.each(ways)('as code is a bad request of %s, and nothing is run', async (way) => {
    for (const code of [undefined, null, 42, ['print(1)'], 'x = 1\n'.repeat(350_000)]) {
      const result = await ran(way, anything(code));
      expect(result).toMatchObject({ status: 'bad_request', stdout: '', wallMs: 0 });
      expect(result.message).toMatch(/^code (must be a string|has 2100000 characters)/);
    }
    await isWell();
  });

  test.each(ways)('that Python refuses ends %s with an error of Python', async (way) => {
    for (const [code, error] of [
      ['x = "a\0b"', 'SyntaxError'],
      [`x = "${half}"`, 'UnicodeEncodeError'],
      ['def f(:', 'SyntaxError'],
      ['\tif', 'IndentationError'],
    ] as const) {
      const { status, exitCode, stderr } = await ran(way, code);
      expect([status, exitCode]).toEqual(['error', 1]);
      expect(stderr).toContain(error);
    }
    await isWell();
  });

  test.each(ways)('of half a megabyte is run by %s', async (way) => {
    const code = `${'def f(x): return x\n'.repeat(25_000)}print("read")`;
    expect(await ran(way, code)).toMatchObject({ status: 'ok', stdout: 'read\n' });
  });

  test('on standard input is a string of at most 16 million characters', async () => {
    const code = 'import sys\ntext = sys.stdin.read()\nprint(len(text), ascii(text[:3]))';
    const lengths: [string, string][] = [
      [`a${half}b`, "3 'a\\ufffdb'\n"],
      ['a\0b', "3 'a\\x00b'\n"],
      ['x'.repeat(10_000_000), "10000000 'xxx'\n"],
    ];
    for (const [stdin, stdout] of lengths) {
      expect(await sandbox().execute({ kind: 'run', code, stdin })).toMatchObject({
        status: 'ok',
        stdout,
      });
    }
    for (const stdin of [42, 'x'.repeat(17 << 20)]) {
      expect(await sandbox().execute({ kind: 'run', code, stdin: anything(stdin) })).toMatchObject({
        status: 'bad_request',
        message: expect.stringMatching(/^stdin /) as unknown,
      });
    }
    await isWell();
  });

  test('in arguments reaches the function as it is, and comes back', async () => {
    const args = [[`a${half}b`], ['\0'], [{ $dict: [] }], [{ $int: '1'.repeat(5000) }]];
    const { results } = await sandbox().execute({
      kind: 'calls',
      code: 'def f(x): return x',
      entry: 'f',
      args,
    });
    expect(results).toEqual(args.map(([value]) => ({ ok: true, value })));
    for (const bad of [undefined, 'x', [1], [['x'.repeat(17 << 20)]]]) {
      const call = { code: 'def f(x): return x', entry: 'f', args: anything(bad) };
      expect(await sandbox().execute({ kind: 'calls', ...call })).toMatchObject({
        status: 'bad_request',
        results: [],
      });
    }
    await isWell();
  });

  test('as entry is a problem of each call, or a bad request', async () => {
    const called = (entry: unknown): Promise<unknown> =>
      sandbox().execute({
        kind: 'calls',
        code: 'class A: pass\nx = 1',
        entry: anything(entry),
        args: [[], []],
      });
    for (const entry of ['', 'absent', 'x', 'A.absent', '__builtins__', half]) {
      const problem = {
        ok: false,
        problem: `NameError: the program defines no function named ${entry}`,
      };
      expect(await called(entry)).toMatchObject({ status: 'ok', results: [problem, problem] });
    }
    expect(await called(undefined)).toMatchObject({ status: 'bad_request', results: [] });
    await isWell();
  });

  test('as tests is a bad request, and odd tests fail', async () => {
    const code = 'f = 1';
    const given = (tests: unknown): Promise<{ status: string; verdicts: readonly unknown[] }> =>
      sandbox().execute({ kind: 'judge', code, tests: anything(tests) });
    const odd: unknown[] = [
      {},
      { statements: 'assert 1' },
      { statements: [1] },
      { statements: [], setup: 1 },
      { statements: [], entry: [] },
      { statements: [], names: 'f' },
      { statements: ['x'.repeat(5 << 20)] },
    ];
    for (const tests of odd) {
      expect(await given(tests)).toMatchObject({ status: 'bad_request', verdicts: [] });
    }
    const failing: AssertTests = { statements: ['a\0b'] };
    for (const tests of [failing, { statements: ['def'] }, { statements: [half] }]) {
      expect(await given(tests)).toMatchObject({ status: 'ok', verdicts: [{ passed: false }] });
    }
    expect(await given({ statements: [] })).toMatchObject({ status: 'ok', verdicts: [] });
    await isWell();
  });

  test('in the output is replaced, and endless output ends the program', async () => {
    const bytes = 'import sys\nsys.stdout.buffer.write(bytes(range(256)) * 4)';
    const raw = await sandbox().execute({ kind: 'run', code: bytes });
    expect(raw).toMatchObject({ status: 'ok', stdoutBytes: 1024 });
    expect(raw.stdout.startsWith('\0\x01\x02')).toBe(true);
    expect(raw.stdout).toContain('\x7f\ufffd');
    const unprintable = await sandbox().execute({ kind: 'run', code: 'print("\\ud800")' });
    expect(unprintable).toMatchObject({ status: 'error', stdout: '' });
    expect(unprintable.stderr).toContain('UnicodeEncodeError');
    const endless = await sandbox().execute({ kind: 'run', code: 'while True: print("x" * 100)' });
    expect(endless).toMatchObject({ status: 'output_limit', truncated: true });
    expect(endless.stdout).toHaveLength(65_536);
    await isWell();
  });
});
