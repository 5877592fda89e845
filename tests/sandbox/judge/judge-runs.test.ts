import { describe, expect, test } from '@jest/globals';

import { keptOutputBytes, type RunResult } from '#agent_rl/core/services/sandbox.ts';
import { judgeCode, type Judgement } from '#agent_rl/sandbox/judge/judge.ts';
import { nativeLimits } from '#agent_rl/sandbox/native/protocol.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const tests = (output: string) => ({ kind: 'stdin', cases: [{ input: '', output }] }) as const;

/** What becomes of a case by what its run came to. */
const judged = (run: Partial<RunResult>, output: string): Promise<Judgement> =>
  judgeCode(
    scriptedSandbox(() => run),
    { code: '', tests: tests(output), compare: 'exact' },
  );

const large = 'x'.repeat(keptOutputBytes);

describe('A case of what a program prints', () => {
  test.each<[string, Partial<RunResult>]>([
    ['short', { stdout: '1\n', stdoutBytes: 2 }],
    ['as long as what is kept', { stdout: large, stdoutBytes: keptOutputBytes }],
    ['made of bytes that are not text', { stdout: '\ufffd\ufffd', stdoutBytes: 2 }],
  ])('passes by a stdout that is %s, whatever was cut of stderr', async (_name, run) => {
    const result = { ...run, truncated: true, stderrBytes: 200_000 };
    expect(await judged(result, run.stdout ?? '')).toMatchObject({ passed: 1, failures: [] });
  });

  test.each<[string, Partial<RunResult>, number]>([
    ['at the bound', { stdout: large, stdoutBytes: 70_000 }, keptOutputBytes],
    ['within a character', { stdout: large.slice(2), stdoutBytes: 70_000 }, keptOutputBytes - 2],
    ['earlier, by another sandbox', { stdout: '1\n', stdoutBytes: 5 }, 2],
    [
      'and grew by bytes that are not text',
      { stdout: '\ufffd'.repeat(keptOutputBytes), stdoutBytes: 70_000 },
      keptOutputBytes,
    ],
  ])('fails by a stdout that was cut %s, and says so', async (_name, run, kept) => {
    const { passed, failures } = await judged({ ...run, truncated: true }, run.stdout ?? '');
    const printed = `printed ${run.stdoutBytes} bytes, of which only the first ${kept} are kept`;
    expect(passed).toBe(0);
    expect(failures[0]).toContain(`input "": ${printed}, expected "`);
  });
});

describe('A program in a sandbox', () => {
  const sandbox = startedSandbox();
  const judge = (code: string, output: string): Promise<Judgement> =>
    judgeCode(sandbox(), { code, tests: tests(output), compare: 'exact' });

  test('passes with more on stderr than is kept', async () => {
    const code = 'import sys\nsys.stderr.write("d" * 100_000)\nprint(1)';
    expect(await judge(code, '1')).toMatchObject({ passed: 1 });
  });

  test('fails with more on stdout than is kept, though its beginning is as expected', async () => {
    const { passed, failures } = await judge('print("x" * 70_000)', large);
    expect(passed).toBe(0);
    expect(failures[0]).toContain('printed 70001 bytes, of which only the first 65536 are kept');
  });
});

test('the native sandbox keeps as much of a stream as every sandbox does', () => {
  expect(nativeLimits({ wallS: 1, memoryMiB: 64 }).output_kept).toBe(keptOutputBytes);
});
