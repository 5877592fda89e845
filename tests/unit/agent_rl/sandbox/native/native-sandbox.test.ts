import { describe, expect, test } from '@jest/globals';

import { NativeSandbox } from '../../../../../agent_rl/sandbox/native/native-sandbox.ts';
import { QueuedSandbox } from '../../../../../agent_rl/sandbox/layers/queued-sandbox.ts';
import { offersLevel } from '../../../../support/python.ts';
import { sandboxContract } from '../../../../support/sandbox-contract.ts';
import { unhurriedLimits } from '../../../../support/sandbox-limits.ts';

for (const level of ['ns', 'lite'] as const) {
  if (offersLevel(level)) {
    sandboxContract(
      `native:${level}`,
      async () =>
        new QueuedSandbox(await NativeSandbox.start({ level, limits: unhurriedLimits }), 2),
    );
  } else {
    describe(`The sandbox native:${level}`, () => {
      test('says why it is not to be had on this machine', async () => {
        const started = NativeSandbox.start({ level, limits: unhurriedLimits });
        await expect(started).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
      });
    });
  }
}
