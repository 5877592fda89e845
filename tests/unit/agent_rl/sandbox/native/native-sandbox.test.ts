import { NativeSandbox } from '../../../../../agent_rl/sandbox/native/native-sandbox.ts';
import { QueuedSandbox } from '../../../../../agent_rl/sandbox/queued-sandbox.ts';
import { offersLevel } from '../../../../support/python.ts';
import { sandboxContract } from '../../../../support/sandbox-contract.ts';

import { describe, test } from '@jest/globals';

for (const level of ['ns', 'lite'] as const) {
  if (offersLevel(level)) {
    sandboxContract(`native:${level}`, async () => {
      const limits = { wallS: 3, memoryMiB: 256 };
      return new QueuedSandbox(await NativeSandbox.start({ level, limits }), 2);
    });
  } else {
    describe(`The sandbox native:${level}`, () => {
      test.skip('is not to be had on this machine', () => undefined);
    });
  }
}
