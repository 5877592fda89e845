import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { asking, type Asking } from './sandbox-contract/asking.ts';
import { judging } from './sandbox-contract/judging.ts';
import { programs } from './sandbox-contract/programs.ts';
import { sessions } from './sandbox-contract/sessions.ts';
import { unhurried } from './sandbox-limits.ts';

/** The tests that every backend passes behind its layers, and then `own`, the tests of one backend, with the same sandbox. */
export function sandboxContract<Backend extends Sandbox>(
  name: string,
  start: () => Promise<Backend>,
  own?: (backend: () => Backend, ask: Asking) => void,
): void {
  describe(`The sandbox ${name}`, () => {
    let backend: Backend;
    let sandbox: Sandbox;
    beforeAll(async () => {
      backend = await start();
      sandbox = unhurried(backend);
    });
    afterAll(() => sandbox?.close());
    const ask = asking(() => sandbox);

    programs(() => sandbox, ask);
    judging(ask);
    sessions(ask, () => sandbox);
    own?.(() => backend, ask);

    test('fails every request once it is closed', async () => {
      await sandbox.close();
      expect(await ask.run('1')).toMatchObject({ status: 'sandbox_error' });
    });
  });
}
