import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { NativeSession } from '#agent_rl/sandbox/native/native-session.ts';
import { SupervisorKeeper } from '#agent_rl/sandbox/native/supervisor-keeper.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { offersLevel } from '#tests/support/python.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';

const lost = {
  status: 'sandbox_error',
  message: expect.stringMatching(
    /session was lost with its supervisor, and its variables are gone.*ended with SIGKILL/,
  ),
  stdout: '',
  alive: false,
};

for (const level of ['ns', 'lite'] as const) {
  const native = offersLevel(level) ? describe : describe.skip;

  native(`A session of native:${level} whose supervisor dies`, () => {
    let keeper: SupervisorKeeper;
    let session: NativeSession;
    beforeEach(async () => {
      keeper = new SupervisorKeeper({ python: '/usr/bin/python3', level, preload: [] }, () => {});
      await keeper.first();
      const options = { limits: unhurriedLimits, seed: 0, totalWallS: 600, level };
      session = new NativeSession(keeper, options);
    });
    afterEach(async () => {
      await session.close();
      await keeper.close();
    });
    const kill = async () => {
      const supervisor = await keeper.current();
      killProcess(supervisor.pid);
      return supervisor;
    };
    const expectAnew = async (): Promise<void> => {
      const next = await session.run({ code: 'print("x" in globals())' });
      expect(next).toMatchObject({ status: 'ok', stdout: 'False\n', alive: true });
    };

    test('between two programs was lost by us, and the program after the next begins anew', async () => {
      await session.run({ code: 'x = 1' });
      const supervisor = await kill();
      while (supervisor.death === undefined) await wait(10);
      // By another program, another supervisor may have been started.
      await keeper.current();
      expect(await session.run({ code: 'print(x)' })).toMatchObject(lost);
      await expectAnew();
    });

    test('in the moment before its next program was lost by us, too', async () => {
      await session.run({ code: 'x = 1' });
      await kill();
      expect(await session.run({ code: 'print(x)' })).toMatchObject(lost);
      await expectAnew();
    });

    test('while its program runs was lost by us, too', async () => {
      await session.run({ code: 'x = 1' });
      const running = session.run({ code: 'import time\ntime.sleep(1000)' });
      await wait(200);
      await kill();
      expect(await running).toMatchObject(lost);
      await expectAnew();
    });

    test('before its first program has lost nothing', async () => {
      const supervisor = await kill();
      while (supervisor.death === undefined) await wait(10);
      await expectAnew();
    });
  });
}
