import { describe, expect, test } from '@jest/globals';

import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { offersLevel } from '#tests/support/python.ts';
import { sandboxContract } from '#tests/support/sandbox-contract.ts';

for (const level of ['ns', 'lite'] as const) {
  if (offersLevel(level)) {
    sandboxContract(`native:${level}`, () => NativeSandbox.start({ level }));
  } else {
    describe(`The sandbox native:${level}`, () => {
      test('says why it is not available on this machine', async () => {
        const started = NativeSandbox.start({ level });
        await expect(started).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
      });
    });
  }
}
