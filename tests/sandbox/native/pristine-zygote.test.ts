import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { offersLevel } from '#tests/support/python.ts';

/** Half of what earlier runs hold, turned around, so that the scan does not find itself. */
const half = 'Q7ZQ7ZQ7Z';
const turned = (kind: string): string => `${kind}-${half}`.split('').toReversed().join('');
const kinds = ['OWNCODE', 'OWNINPUT', 'OWNOUTPUT', 'OWNTESTS'];

/** Reads all memory around known objects through a pipe, which fails on what is not mapped instead of ending the scan. */
const scan = (own: readonly string[]): string => `
import ctypes, gc, os
${own.join('\n')}
libc = ctypes.CDLL(None)
reader, writer = os.pipe()
os.set_blocking(reader, False)
wanted = ${JSON.stringify(kinds.map(turned))}
starts = {id(each) & ~0xfffff for each in gc.get_objects()} | {ctypes.addressof(ctypes.create_string_buffer(8)) & ~0xfffff}
seen, found, pages = set(), set(), 0
for start in sorted(starts):
    for page in range(start - (2 << 20), start + (8 << 20), 4096):
        if page <= 0 or page in seen: continue
        seen.add(page)
        if libc.write(writer, ctypes.c_void_p(page), ctypes.c_size_t(4096)) == 4096:
            content = os.read(reader, 4096)[::-1]
            pages += 1
            for each in wanted:
                if each.encode() in content: found.add(each[::-1].split('-')[0])
print(pages > 1000, sorted(found))
`;
import { unhurried } from '#tests/support/sandbox-limits.ts';

for (const level of ['ns', 'lite'] as const) {
  const tried = offersLevel(level) ? describe : describe.skip;
  tried(`The memory that a run at level ${level} inherits`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = unhurried(await NativeSandbox.start({ level }));
      const code = `# OWNCODE-${half}\nprint("OWNOUTPUT" + "-" + ${JSON.stringify(half)}, input())`;
      for (let i = 0; i < 5; i++)
        await sandbox.execute({ kind: 'run', code, stdin: `OWNINPUT-${half}\n` });
      const statements = [`assert f(1) == 2, "OWNTESTS-${half}"`];
      for (let i = 0; i < 3; i++) {
        await sandbox.execute({
          kind: 'judge',
          code: `# OWNCODE-${half}\ndef f(x): return 1`,
          tests: { statements },
        });
      }
    });
    afterAll(() => sandbox.close());

    test("holds no other run's program, input, output or tests", async () => {
      const result = await sandbox.execute({ kind: 'run', code: scan([]) });
      expect(result).toMatchObject({ status: 'ok', stdout: 'True []\n' });
    });

    test('would be found out by this scan', async () => {
      const own = [
        `kept = [str(i) + "OWNINPUT" + "-" + ${JSON.stringify(half)} for i in range(50)]`,
      ];
      const result = await sandbox.execute({ kind: 'run', code: scan(own) });
      expect(result.stdout).toMatch(/^True \[.*'OWNINPUT'.*\]\n$/);
    });
  });
}
