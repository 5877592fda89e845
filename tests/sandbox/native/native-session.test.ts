import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';

import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import type { Sandbox, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';
import { descendants, readProcess } from '#tests/support/descendants.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { offersLevel } from '#tests/support/python.ts';
import { unhurried } from '#tests/support/sandbox-limits.ts';

const isPaused = (pid: number): boolean => /^State:\s+T/m.test(readProcess(`/proc/${pid}/status`));

/** A program is paused by a signal, which arrives a little after its answer. */
async function pausedProcesses(): Promise<readonly number[]> {
  for (;;) {
    const paused = descendants(process.pid).filter(isPaused);
    if (paused.length > 0) return paused;
    await wait(10);
  }
}

for (const level of ['ns', 'lite'] as const) {
  const native = offersLevel(level) ? describe : describe.skip;

  native(`A session of native:${level}`, () => {
    let sandbox: Sandbox;
    const incidents: string[] = [];
    beforeAll(async () => {
      const onIncident = ({ kind }: SandboxIncident): unknown => incidents.push(kind);
      sandbox = unhurried(await NativeSandbox.start({ level, onIncident }));
    });
    afterAll(() => sandbox.close());
    const inSession = async (use: (session: SandboxSession) => Promise<void>): Promise<void> => {
      const session = sandbox.openSession();
      await use(session);
      await session.close();
      expect(incidents).toEqual([]);
    };

    test('that ended between two programs says so, and the second is not run', () =>
      inSession(async (session) => {
        await session.run({ code: 'x = 1' });
        const paused = await pausedProcesses();
        expect(paused).toHaveLength(1);
        killProcess(paused[0]);
        await wait(200);
        expect(await session.run({ code: 'print(1)' })).toMatchObject({
          status: 'crashed',
          message: expect.stringContaining('this program was not run'),
          stdout: '',
          alive: false,
        });
        expect(await session.run({ code: 'print("x" in globals())' })).toMatchObject({
          stdout: 'False\n',
          alive: true,
        });
      }));

    test('stands still between programs, its threads too', () =>
      inSession(async (session) => {
        const counting =
          'import threading, time\nn = 0\ndef count():\n    global n\n    while True:\n        n += 1\n        time.sleep(0.001)\nthreading.Thread(target=count, daemon=True).start()\ntime.sleep(0.05)';
        expect(await session.run({ code: counting })).toMatchObject({ status: 'ok' });
        await session.run({ code: 'before = n' });
        await wait(400);
        const { stdout } = await session.run({ code: 'print(n - before)' });
        // At most one a millisecond while the two programs ran, and 400 more had it gone on.
        expect(Number(stdout)).toBeLessThan(200);
        expect(await session.run({ code: 'time.sleep(0.1)\nprint(n > before)' })).toMatchObject({
          stdout: 'True\n',
        });
      }));

    test('has its supervisor waited for as long as its program may take', async () => {
      const session = sandbox.openSession({ limits: { wallS: 1 }, totalWallS: 300 });
      const timers = jest.spyOn(globalThis, 'setTimeout');
      await session.run({ code: 'x = 1', limits: { wallS: 100 } });
      await session.run({ code: 'print(x)', limits: { wallS: 200 } });
      const seconds = timers.mock.calls.map(([, ms = 0]) => ms / 1000);
      timers.mockRestore();
      await session.close();
      expect(seconds).toHaveLength(2);
      expect(seconds[0]).toBeGreaterThan(100);
      expect(seconds[1]).toBeGreaterThan(200);
    });

    test('that only says it is done is stopped at once, and ended at its next deadline', () =>
      inSession(async (session) => {
        const forged =
          'import os, signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nos.write(3, b\'{"done":0}\\n\')\nwhile True: pass';
        expect(await session.run({ code: forged })).toMatchObject({ status: 'ok', alive: true });
        const next = { code: 'print(1)', limits: { wallS: 0.5 } };
        expect(await session.run(next)).toMatchObject({
          status: 'timeout',
          stdout: '',
          alive: false,
        });
        expect(await session.run({ code: 'print(2)' })).toMatchObject({ stdout: '2\n' });
      }));

    test('that writes while it says it is done harms no other session', () =>
      inSession(async (session) => {
        const other = sandbox.execute({
          kind: 'run',
          code: 'import time\ntime.sleep(0.8)\nprint("fine")',
        });
        const writing =
          'import os\nfor i in range(3000): os.write(1, b"x")\nos.write(3, b\'{"done":0}\\n\')\nfor i in range(100000): os.write(1, b"x")';
        for (let i = 0; i < 5; i++) await session.run({ code: writing });
        expect(await other).toMatchObject({ status: 'ok', stdout: 'fine\n' });
      }));

    test('takes 10 MB of input and keeps its variables', () =>
      inSession(async (session) => {
        await session.run({ code: 'import sys\nx = 5' });
        const stdin = 'a'.repeat(10_000_000);
        const reading = { code: 'print(len(sys.stdin.read()) + x)', stdin };
        expect(await session.run(reading)).toMatchObject({ stdout: '10000005\n', alive: true });
      }));

    test('that is closed in any moment after a call ends what it runs at once', async () => {
      const idle = descendants(process.pid).length;
      const closedAfter = async (turns: number): Promise<string> => {
        const session = sandbox.openSession();
        const running = session.run({ code: 'import time\nwhile True: time.sleep(1)' });
        for (let i = 0; i < turns; i++) await Promise.resolve();
        await session.close();
        return (await running).status;
      };
      const statuses = await Promise.all(Array.from({ length: 21 }, (_, i) => closedAfter(i)));
      expect(statuses).not.toContain('timeout');
      while (descendants(process.pid).length > idle) await wait(20);
    });

    test('that floods its notes is ended', () =>
      inSession(async (session) => {
        const flood = 'import os\nfor i in range(200): os.write(3, b"}\\n" * 1000)';
        expect(await session.run({ code: flood })).toMatchObject({ status: 'output_limit' });
      }));
  });
}
