import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Sandbox, SandboxSession } from '#agent_rl/core/services/sandbox.ts';
import type { Asking } from './asking.ts';

/** How a backend keeps sessions. */
export function sessions({ run, inSession }: Asking, sandbox: () => Sandbox): void {
  describe('with a session', () => {
    let session: SandboxSession;
    beforeAll(() => {
      session = sandbox().openSession();
    });
    afterAll(() => session.close());

    test('keeps its variables and files, and gives each program its own input', async () => {
      const begin =
        '\uFEFFimport math\ndef f(y): return x + y\nx = 3\nopen("f", "w").write("kept")\nprint("one")\nexit()';
      const first = await session.run({ code: begin });
      expect(first).toMatchObject({ status: 'ok', exitCode: 0, stdout: 'one\n', alive: true });
      const code = '\uFEFFprint(f(1), math.pi > 3, open("f").read(), input())';
      const second = await session.run({ code, stdin: 'hi\nunread\n' });
      const stdout = '4 True kept hi\n';
      expect(second).toMatchObject({ status: 'ok', stdout, stdoutBytes: 15, alive: true });
      expect((await session.run({ code: 'input()' })).stderr).toContain('EOFError');
    });

    test('outlives an exception, an exit and a lack of memory', async () => {
      for (const [code, status, exitCode] of [
        ['x = 1\n1 / 0', 'error', 1],
        ['import sys\nx += 1\nsys.exit(3)', 'error', 3],
        ['bytearray(2 ** 30)', 'memory_limit', 1],
      ] as const)
        expect(await session.run({ code })).toMatchObject({ status, exitCode, alive: true });
      const after = await session.run({ code: 'print(x)' });
      expect(after).toMatchObject({ stdout: '2\n', stderr: '' });
    });

    test.each([
      ['computes', 'while True: pass'],
      ['sleeps', 'import time\ntime.sleep(60)'],
    ])('interrupts a program that %s at its deadline, keeping variables', async (_, idle) => {
      await session.run({ code: 'x = 1' });
      const code = `print("begun")\nx = 2\n${idle}`;
      const late = await session.run({ code, limits: { wallS: 0.5 } });
      expect(late).toMatchObject({ status: 'timeout', stdout: 'begun\n', alive: true });
      expect(late.stderr).toMatch(/File "main.py", line [34][^]*KeyboardInterrupt\n$/);
      expect(await session.run({ code: 'print(x)' })).toMatchObject({ stdout: '2\n' });
    });

    test.each([
      ['exits past the harness', 'import os\nos._exit(4)', /error/],
      ['floods its output', 'while True: print("a" * 9999)', /output_limit/],
      ['breaks the interpreter', 'import os\nos.abort()', /crashed|signaled/],
    ])('ends with a program that %s, and begins anew', async (_, code, status) => {
      await session.run({ code: 'x = 1' });
      const ended = await session.run({ code });
      expect(ended.alive).toBe(false);
      expect(ended.status).toMatch(status);
      const anew = await session.run({ code: 'print("x" in globals())' });
      expect(anew).toMatchObject({ stdout: 'False\n', alive: true });
    });

    test('begins anew after a program that is aborted', async () => {
      await session.run({ code: 'x = 1' });
      const abort = new AbortController();
      const running = session.run({ code: 'while True: pass' }, abort.signal);
      const next = session.run({ code: 'print("x" in globals())' });
      setTimeout(() => abort.abort(new Error('enough')), 100);
      await expect(running).rejects.toThrow('enough');
      expect(await next).toMatchObject({ stdout: 'False\n', alive: true });
    });

    test('shows it nothing of another session', () =>
      inSession(async (other) => {
        const mark = 'import builtins\nbuiltins.mark = secret = 1\nopen("secret", "w").close()';
        await session.run({ code: mark });
        const code =
          'import builtins, os\nprint("secret" in globals(), hasattr(builtins, "mark"), os.listdir("."))';
        expect((await other.run({ code })).stdout).not.toMatch(/True|secret/);
      }));

    test('ends it when all its time is used, and fails once it is closed', async () => {
      const brief = sandbox().openSession({ limits: { wallS: 1 }, totalWallS: 0.6 });
      await brief.run({ code: 'import time\ntime.sleep(0.4)' });
      const cut = await brief.run({ code: 'print("here")\nimport time\ntime.sleep(60)' });
      expect(cut).toMatchObject({ status: 'timeout', stdout: 'here\n' });
      const after = await brief.run({ code: 'print(1)' });
      expect(after).toMatchObject({ status: 'timeout', stdout: '', alive: false });
      expect(after.message).toBe('the programs of the session used up their 0.6 s together');
      await brief.close();
      expect(await brief.run({ code: '1' })).toMatchObject({ status: 'sandbox_error' });
    });

    test('runs its programs in order, with the random numbers of its seed', () =>
      inSession(
        async (seeded) => {
          const draw = 'import random\nprint(random.random())';
          const codes = [draw, 'import time\ntime.sleep(0.1)\nx = [1]', 'x += [2]', 'print(x)'];
          const runs = await Promise.all(codes.map((code) => seeded.run({ code })));
          expect(runs.map(({ stdout }) => stdout).slice(1)).toEqual(['', '', '[1, 2]\n']);
          expect(runs[0]?.stdout).toBe((await run(draw, { seed: 1 })).stdout);
          expect(runs[0]?.stdout).not.toBe((await run(draw, { seed: 2 })).stdout);
        },
        { seed: 1 },
      ));

    test('lets more rollouts hold sessions than programs run at once', async () => {
      const rollouts = [0, 1, 2].map(async (i) => {
        const held = sandbox().openSession({ owner: `rollout ${i}` });
        await held.run({ code: `x = ${i}` });
        await run('print("between")');
        const { stdout } = await held.run({ code: 'print(x)' });
        await held.close();
        return stdout;
      });
      const beside = run('print("beside")', { owner: 'another' });
      expect(await Promise.all(rollouts)).toEqual(['0\n', '1\n', '2\n']);
      expect(await beside).toMatchObject({ status: 'ok', stdout: 'beside\n' });
    });
  });
}
