import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { offersLevel } from '#tests/support/python.ts';
import { unhurried } from '#tests/support/sandbox-limits.ts';

/** Written backwards, so that the search does not find itself. */
const turned = packageRoot().split('').toReversed().join('');

/** Follows everything that its frames, its modules and the interpreter hold, code objects too. */
const search = `
import gc, sys, types
wanted, seen, found = ${JSON.stringify(turned)}[::-1], set(), []
waiting = [sys.modules, sys.__dict__, *gc.get_objects()]
frame = sys._getframe()
while frame is not None:
    waiting += [frame.f_code, frame.f_globals, dict(frame.f_locals)]
    frame = frame.f_back
kept = list(waiting)
while waiting:
    each = waiting.pop()
    if id(each) in seen or each is wanted: continue
    seen.add(id(each))
    kept.append(each)
    if isinstance(each, str):
        if wanted in each: found.append(each)
    elif isinstance(each, bytes):
        if wanted.encode() in each: found.append(each)
    elif isinstance(each, types.CodeType):
        waiting += [each.co_filename, *each.co_consts]
    else:
        waiting += gc.get_referents(each)
        if isinstance(each, types.FunctionType): waiting += [each.__code__, each.__globals__]
print(len(seen) > 10000, sorted(set(map(str, found)))[:9])
`;

for (const level of ['ns', 'lite'] as const) {
  (offersLevel(level) ? describe : describe.skip)(`At level ${level} a program`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = unhurried(await NativeSandbox.start({ level }));
    });
    afterAll(() => sandbox?.close());

    test('finds nowhere in its interpreter in which folder this package lies', async () => {
      expect(await sandbox.execute({ kind: 'run', code: search })).toMatchObject({
        status: 'ok',
        stdout: 'True []\n',
      });
    });
  });
}
