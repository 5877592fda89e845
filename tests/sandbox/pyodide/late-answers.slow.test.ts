import { describe, expect, test } from '@jest/globals';

import type { CodeTests } from '#agent_rl/core/tasks/code-task.ts';
import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { descendants } from '#tests/support/descendants.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Stops the child processes from 0.3 s to 1.5 s, as a busy machine does. */
async function starved<Result>(work: () => Promise<Result>): Promise<Result> {
  const children = descendants(process.pid);
  const result = work();
  await pause(300);
  for (const child of children) process.kill(child, 'SIGSTOP');
  await pause(1200);
  for (const child of children) process.kill(child, 'SIGCONT');
  return result;
}

const limits = { wallS: 1, memoryMiB: 256 };
const slow = 'import time\ntime.sleep(0.6)\nprint(9)\ndef f(x):\n    return 9';
const slowCall = 'import time\ndef f(x):\n    time.sleep(0.6)\n    return 9';

(process.platform === 'linux' ? describe : describe.skip)(
  'An answer of a starved program that comes after its deadline',
  () => {
    const sandbox = startedSandbox();

    test.each<[string, string, CodeTests]>([
      ['standard output', slow, { kind: 'stdin', cases: [{ input: '', output: '9' }] }],
      ['a call', slowCall, { kind: 'calls', entry: 'f', cases: [{ args: [3], expected: 9 }] }],
      ['a statement', slowCall, { kind: 'asserts', code: ['assert f(3) == 9'] }],
    ])('passes no test of %s', async (_way, code, tests) => {
      const asked = { code, tests, compare: 'exact' as const, limits: { ...limits, wallS: 20 } };
      const inTime = await judgeCode(sandbox(), asked);
      expect(inTime).toMatchObject({ passed: 1, total: 1 });
      const late = await starved(() => judgeCode(sandbox(), { ...asked, limits }));
      expect(late).toMatchObject({ passed: 0, total: 1, statuses: ['timeout'] });
    });

    test('is a timeout in a session, which lives on', async () => {
      const session = sandbox().openSession({ limits });
      expect(await session.run({ code: 'x = 1' })).toMatchObject({ status: 'ok' });
      const late = await starved(() =>
        session.run({ code: 'import time\ntime.sleep(0.6)\nx = 2' }),
      );
      expect(late).toMatchObject({ status: 'timeout', alive: true });
      await session.close();
    });
  },
);
