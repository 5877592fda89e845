import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import type { Verdict } from '#agent_rl/core/plugins/environment.ts';
import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { CodeExecEnv } from '#agent_rl/environments/code-exec/code-exec-env.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { offersLevel } from '../support/python.ts';

/*
 * A program gains nothing by failing: whatever it does, it is judged, with the reward of an unsolved task. No way of failing
 * ends as a failure of the sandbox, which gives no reward and takes the rollout out of its group.
 *
 * The backends are tested without the layer that retries, so that a way that works only sometimes is found, too.
 */

const recursion = 'def g(): return g() + 1\ng()';

const noMore = 'except (AttributeError, OSError): raise ValueError("no more")';

/** Python lines. None changes `x` or the answer, so a program that gets past them has solved the task. */
const ways: readonly [name: string, lines: string][] = [
  ['raises an exception', 'raise ValueError("no")'],
  ['runs out of time', 'while True: pass'],
  ['sleeps past its time', 'import time\ntime.sleep(60)'],
  ['takes more memory than it may', 'kept = []\nwhile True: kept.append(bytearray(10 << 20))'],
  ['floods its output', 'while True: print("x" * 9999)'],
  ['floods its errors', 'import sys\nwhile True: sys.stderr.write("x" * 9999)'],
  ['fills its folder', 'file = open("much", "wb")\nwhile True: file.write(bytes(1 << 20))'],
  ['makes files without end', 'n = 0\nwhile True:\n    open(str(n), "w").close()\n    n += 1'],
  ['leaves by os._exit', 'import os\nos._exit(0)'],
  ['leaves by sys.exit', 'import sys\nsys.exit(0)'],
  ['kills itself', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nraise OSError'],
  ['closes descriptors 0 to 9', 'import os\nos.closerange(0, 10)\nraise OSError'],
  [
    'floods descriptors 3 to 9',
    `import os
for descriptor in range(3, 10):
    try:
        os.set_blocking(descriptor, False)
        for _ in range(10000): os.write(descriptor, b"x" * 999 + b"\\n")
    except OSError: pass
raise OSError`,
  ],
  ['forks without end', `import os\ntry:\n    while True: os.fork()\n${noMore}`],
  [
    'starts threads without end',
    'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()',
  ],
  ['deletes its folder', 'import os, shutil\nshutil.rmtree(os.getcwd(), True)\nraise OSError'],
  ['calls itself without end', recursion],
  ['crashes its interpreter', `import sys\nsys.setrecursionlimit(10 ** 9)\n${recursion}`],
];

/** Computes the answer after its time is over, and ignores its interrupt. */
const late = `
import os, signal, sys, time
if sys.platform == "linux": signal.setitimer(signal.ITIMER_REAL, 0)
waiting = True
def f(x):
    global waiting
    until = time.monotonic() + 1
    while waiting:
        try:
            time.sleep(0.01)
            waiting = sys.platform != "linux" or time.monotonic() < until
        except KeyboardInterrupt: waiting = False
    return 2 * x
if __name__ == "__main__":
    print(f(int(input())), flush=True)
    os._exit(0)
`;

const indented = (lines: string): string => lines.replaceAll(/^/gm, '    ');
const atOnce = (lines: string): string => `def f(x):\n    return 2 * x\n${lines}`;
const whenCalled = (lines: string): string =>
  `def f(x):\n${indented(lines)}\n    return 2 * x\nprint(f(int(input())))`;

const tests: Readonly<Record<string, CodeTask['tests']>> = {
  statements: { kind: 'asserts', code: ['assert f(2) == 4', 'assert f(3) == 6'], entry: 'f' },
  calls: { kind: 'calls', entry: 'f', cases: [2, 3].map((x) => ({ args: [x], expected: 2 * x })) },
  'standard input': { kind: 'stdin', cases: [{ input: '2\n', output: '4' }] },
};

const kinds = Object.keys(tests);

const settings = {
  judgedCall: 'last-call',
  showStarterCode: false,
  successReward: 1,
  partialCredit: 0,
  timeoutPenalty: 0,
  turnLimitPenalty: 0,
} as const;

async function verdictOn(
  sandbox: Sandbox,
  { by, code, judgeWallS = 0.5 }: { by: string; code: string; judgeWallS?: number },
): Promise<Verdict> {
  const metadata = {};
  const task = { taskId: 't', prompt: '', starterCode: '', compare: 'exact', metadata } as const;
  const given = { task: { ...task, tests: tests[by]! }, sandbox };
  const env = new CodeExecEnv({ ...given, settings: { ...settings, judgeWallS } });
  const call = { id: 'call_0_0', name: 'code_exec', arguments: { code } };
  const message = { role: 'assistant', content: '', toolCalls: [call] } as const;
  const executed = { call, status: 'ok', wallMs: 1, result: { content: '' } } as const;
  const { signal } = new AbortController();
  await env.start();
  await env.step({ index: 0, message, calls: [executed] }, signal);
  return env.finish('done', signal);
}

const backends: readonly [name: string, offered: boolean, start: () => Promise<Sandbox>][] = [
  ['native:ns', offersLevel('ns'), () => NativeSandbox.start({ level: 'ns' })],
  ['native:lite', offersLevel('lite'), () => NativeSandbox.start({ level: 'lite' })],
  ['pyodide', true, () => PyodideSandbox.start({ workers: 2 })],
];

for (const [name, offered, start] of backends) {
  (offered ? describe : describe.skip)(`A program in ${name}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await start();
    });
    afterAll(() => sandbox?.close());

    test.each(kinds)('is rewarded for what is right, judged by %s', async (by) => {
      const code = by === 'standard input' ? 'print(4)' : 'def f(x): return 2 * x';
      expect(await verdictOn(sandbox, { by, code, judgeWallS: 5 })).toMatchObject({ reward: 1 });
    });

    test.each(kinds)('has no reward for an answer after its time, judged by %s', async (by) => {
      expect(await verdictOn(sandbox, { by, code: late })).toMatchObject({
        outcome: 'wrong-answer',
        reward: 0,
        metrics: { casesPassedShare: 0, judgedTimeouts: expect.any(Number) },
      });
    });

    test.each([['is no Python', 'def f(x) return'], ...ways])(
      'has no reward, and keeps its place, when it %s',
      async (_, lines) => {
        const programs = kinds.flatMap((by) =>
          [whenCalled, atOnce].map((program) => ({ by, code: program(lines) })),
        );
        const verdicts = await Promise.all(programs.map((each) => verdictOn(sandbox, each)));
        expect(
          verdicts.map(({ outcome, reward, problem }) => ({ outcome, reward, problem })),
        ).toEqual(programs.map(() => ({ outcome: 'wrong-answer', reward: 0, problem: undefined })));
      },
    );
  });
}
