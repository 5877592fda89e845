import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { offersLevel } from '#tests/support/python.ts';
import { unhurried } from '#tests/support/sandbox-limits.ts';

const code = `
class A: pass
print(object(), A(), iter([1, 2]), lambda: 1, id([]), id({}), id("a" * 1000), id(bytearray(100000)))
`;

for (const level of ['ns', 'lite'] as const) {
  const native = offersLevel(level) ? describe : describe.skip;

  native(`Memory in native:${level}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = unhurried(await NativeSandbox.start({ level }));
    });
    afterAll(() => sandbox.close());
    const ask = async (): Promise<string> => (await sandbox.execute({ kind: 'run', code })).stdout;

    test('lies alike in every run, whatever ran before and runs beside', async () => {
      const first = await ask();
      expect(first).toContain('<object object at 0x');
      const all = [await ask(), ...(await Promise.all(Array.from({ length: 8 }, ask)))];
      await sandbox.execute({ kind: 'calls', code: 'def f(x): return x', entry: 'f', args: [[1]] });
      const hanging = sandbox.execute({
        kind: 'run',
        code: 'while True: pass',
        limits: { wallS: 0.5 },
      });
      const session = sandbox.openSession();
      await session.run({ code: 'x = 1' });
      all.push(...(await Promise.all(Array.from({ length: 4 }, ask))));
      await session.close();
      await hanging;
      expect(new Set([...all, await ask()])).toEqual(new Set([first]));
    });
  });
}
