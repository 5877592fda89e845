import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Sandbox, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import { addLimits, layered } from '#agent_rl/sandbox/layers/layer.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { descendants } from '#tests/support/descendants.ts';
import { offersLevel } from '#tests/support/python.ts';

const ticks = Array.from({ length: 21 }, (_, i) => i);
const endless = 'import time\nwhile True: time.sleep(1)';
/** Beyond the time a test may take: what an abort does not end fails it. */
const limits = { wallS: 1000, memoryMiB: 256 };

/** Aborts so many turns of the queue of promises after the call; what the call throws. */
async function abortedAfter(
  turns: number,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const controller = new AbortController();
  const thrown = call(controller.signal).then(
    () => 'it answered',
    (error: unknown) => error,
  );
  for (let i = 0; i < turns; i++) await Promise.resolve();
  controller.abort(`after ${turns}`);
  return thrown;
}

for (const level of ['ns', 'lite'] as const) {
  const native = offersLevel(level) ? describe : describe.skip;

  native(`In native:${level} an abort in any moment after the call ends at once`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      const backend = await NativeSandbox.start({ level });
      sandbox = layered(backend, [addLimits(limits)]);
    });
    afterAll(() => sandbox.close());
    const abortedEach = async (
      call: (signal: AbortSignal) => Promise<unknown>,
    ): Promise<readonly unknown[]> => {
      const idle = descendants(process.pid).length;
      const thrown = await Promise.all(ticks.map((turns) => abortedAfter(turns, call)));
      // What ran is cleared away a moment later.
      while (descendants(process.pid).length > idle) await wait(20);
      return thrown;
    };
    const reasons = ticks.map((turns) => `after ${turns}`);

    test('a program', async () => {
      const thrown = await abortedEach((signal) =>
        sandbox.execute({ kind: 'run', code: endless }, signal),
      );
      expect(thrown).toEqual(reasons);
    });

    test('calls of a function', async () => {
      const calls = { code: endless, entry: 'f', args: [[1]] };
      expect(
        await abortedEach((signal) => sandbox.execute({ kind: 'calls', ...calls }, signal)),
      ).toEqual(reasons);
    });

    test('a judgement', async () => {
      const tests = { setup: '', statements: ['assert True'] };
      const judged = await abortedEach((signal) =>
        sandbox.execute({ kind: 'judge', code: endless, tests }, signal),
      );
      expect(judged).toEqual(reasons);
    });

    test('the first program of a session', async () => {
      const thrown = await abortedEach((signal) =>
        sandbox.openSession().run({ code: endless }, signal),
      );
      expect(thrown).toEqual(reasons);
    });

    test('a later program of a session, which then begins anew or continues', async () => {
      const sessions: SandboxSession[] = ticks.map(() => sandbox.openSession());
      await Promise.all(sessions.map((session) => session.run({ code: 'x = 1' })));
      const thrown = await Promise.all(
        sessions.map((session, turns) =>
          abortedAfter(turns, (signal) => session.run({ code: endless }, signal)),
        ),
      );
      expect(thrown).toEqual(reasons);
      const next = sessions.map((session) => session.run({ code: 'print("on")' }));
      for (const result of await Promise.all(next))
        expect(result).toMatchObject({ status: 'ok', stdout: 'on\n', alive: true });
      await Promise.all(sessions.map((session) => session.close()));
    });
  });
}
