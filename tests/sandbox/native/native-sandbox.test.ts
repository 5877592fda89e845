import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, jest, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type {
  RequestKind,
  RunResult,
  Sandbox,
  SandboxRequest,
} from '#agent_rl/core/services/sandbox.ts';
import { addLimits, layered } from '#agent_rl/sandbox/layers/layer.ts';
import { NativeSandbox } from '#agent_rl/sandbox/native/native-sandbox.ts';
import { findSecrets } from '#tests/attacks/find-secrets.ts';
import { newSecret } from '#tests/attacks/host/secrets.ts';
import { descendants, readProcess } from '#tests/support/descendants.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { offersLevel } from '#tests/support/python.ts';
import { sandboxContract } from '#tests/support/sandbox-contract.ts';
import type { Asking } from '#tests/support/sandbox-contract/asking.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';

function runsAlike(backend: () => Sandbox, { run, calls, inSession }: Asking): void {
  test('places objects at the same addresses in every run, whatever ran before and runs beside', async () => {
    const code =
      'class A: pass\nprint(object(), A(), iter([1, 2]), lambda: 1, id([]), id({}), id("a" * 1000), id(bytearray(100000)))';
    const look = async (): Promise<string> => {
      const { stdout } = await backend().execute({ kind: 'run', code });
      return stdout;
    };
    const first = await look();
    expect(first).toContain('<object object at 0x');
    const all = [await look(), ...(await Promise.all(Array.from({ length: 8 }, look)))];
    await calls('def f(x): return x', 'f', [[1]]);
    const hanging = run('while True: pass', { limits: { wallS: 0.5 } });
    await inSession(async (session) => {
      await session.run({ code: 'x = 1' });
      all.push(...(await Promise.all(Array.from({ length: 4 }, look))));
    });
    await hanging;
    expect(new Set([...all, await look()])).toEqual(new Set([first]));
  });
}

const secrets = { code: newSecret(), input: newSecret(), output: newSecret(), tests: newSecret() };
const scanMemory = (own = ''): string =>
  `${own}\n${findSecrets(secrets)}for piece in memory(): look(piece, 'in memory')\nprint('scanned')`;
const reversed = (text: string): string => text.split('').toReversed().join('');

/** Follows everything that its frames, its modules and the interpreter hold, including code objects. */
const searchObjects = `
import gc, sys, types
wanted, seen, found = ${JSON.stringify(reversed(packageRoot()))}[::-1], set(), []
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

function hides({ run, judge }: Asking): void {
  test("leaves a run no other run's program, input, output or tests in its memory", async () => {
    const { code, input, output, tests } = secrets;
    for (let i = 0; i < 5; i++)
      await run(`# ${code}\nprint("${output}", input())`, { stdin: `${input}\n` });
    for (let i = 0; i < 3; i++)
      await judge(`# ${code}\ndef f(x): return 1`, [`assert f(1) == 2, "${tests}"`]);
    expect(await run(scanMemory())).toMatchObject({ status: 'ok', stdout: 'scanned\n' });
    // The scan finds what is there, put together only when it runs.
    const own = `kept = "".join(["${input.slice(0, 12)}", "${input.slice(12)}"])`;
    expect((await run(scanMemory(own))).stdout).toBe('LEAK input in memory\nscanned\n');
  });

  test('hides from a program in which folder this package lies', async () => {
    expect(await run(searchObjects)).toMatchObject({ status: 'ok', stdout: 'True []\n' });
  });
}

const isPaused = (pid: number): boolean => /^State:\s+T/m.test(readProcess(`/proc/${pid}/status`));

/** Waits for the signal that pauses a program, which arrives shortly after its answer. */
async function pausedProcesses(): Promise<readonly number[]> {
  for (;;) {
    const paused = descendants(process.pid).filter(isPaused);
    if (paused.length > 0) return paused;
    await wait(10);
  }
}

function sessions(backend: () => Sandbox, { run, inSession }: Asking): void {
  test('says that a session ended between two programs, and does not run the second', () =>
    inSession(async (session) => {
      await session.run({ code: 'x = 1' });
      const paused = await pausedProcesses();
      expect(paused).toHaveLength(1);
      killProcess(paused[0]);
      await wait(200);
      const { status, message, stdout, alive } = await session.run({ code: 'print(1)' });
      expect({ status, stdout, alive }).toEqual({ status: 'crashed', stdout: '', alive: false });
      expect(message).toContain('this program was not run');
      const anew = await session.run({ code: 'print("x" in globals())' });
      expect(anew).toMatchObject({ stdout: 'False\n', alive: true });
    }));

  test('pauses a session between programs, including its threads', () =>
    inSession(async (session) => {
      const counting =
        'import threading, time\nn = 0\ndef count():\n    global n\n    while True:\n        n += 1\n        time.sleep(0.001)\nthreading.Thread(target=count, daemon=True).start()\ntime.sleep(0.05)';
      expect(await session.run({ code: counting })).toMatchObject({ status: 'ok' });
      await session.run({ code: 'before = n' });
      await wait(400);
      const { stdout } = await session.run({ code: 'print(n - before)' });
      // At most one a millisecond while the two programs ran, and 400 more without the pause.
      expect(Number(stdout)).toBeLessThan(200);
      const on = await session.run({ code: 'time.sleep(0.1)\nprint(n > before)' });
      expect(on).toMatchObject({ stdout: 'True\n' });
    }));

  test('waits for the supervisor of a session as long as its program may take', async () => {
    const session = backend().openSession({ limits: { wallS: 1 }, totalWallS: 300 });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await session.run({ code: 'x = 1', limits: { wallS: 100 } });
    await session.run({ code: 'print(x)', limits: { wallS: 200 } });
    const seconds = timers.mock.calls.map(([, ms = 0]) => ms / 1000);
    timers.mockRestore();
    await session.close();
    expect(seconds).toEqual([expect.any(Number), expect.any(Number)]);
    expect(seconds[0]).toBeGreaterThan(100);
    expect(seconds[1]).toBeGreaterThan(200);
  });

  test('ends a session that forged its last end at its next deadline', () =>
    inSession(async (session) => {
      const forged =
        'import os, signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nos.write(3, b\'{"done":0}\\n\')\nwhile True: pass';
      expect(await session.run({ code: forged })).toMatchObject({ status: 'ok', alive: true });
      const next = await session.run({ code: 'print(1)', limits: { wallS: 0.5 } });
      expect(next).toMatchObject({ status: 'timeout', stdout: '', alive: false });
      expect(await session.run({ code: 'print(2)' })).toMatchObject({ stdout: '2\n' });
    }));

  test('keeps other programs safe from a session that writes after its end', () =>
    inSession(async (session) => {
      const other = run('import time\ntime.sleep(0.8)\nprint("fine")');
      const writing =
        'import os\nfor i in range(3000): os.write(1, b"x")\nos.write(3, b\'{"done":0}\\n\')\nfor i in range(100000): os.write(1, b"x")';
      for (let i = 0; i < 5; i++) await session.run({ code: writing });
      expect(await other).toMatchObject({ status: 'ok', stdout: 'fine\n' });
    }));

  test('hands a session 10 MB of input, and ends it when it floods its notes', () =>
    inSession(async (session) => {
      await session.run({ code: 'import sys\nx = 5' });
      const reading = { code: 'print(len(sys.stdin.read()) + x)', stdin: 'a'.repeat(10_000_000) };
      expect(await session.run(reading)).toMatchObject({ stdout: '10000005\n', alive: true });
      const flood = 'import os\nfor i in range(200): os.write(3, b"}\\n" * 1000)';
      expect(await session.run({ code: flood })).toMatchObject({ status: 'output_limit' });
    }));
}

const ticks = Array.from({ length: 21 }, (_, i) => i);
const endless = 'import time\nwhile True: time.sleep(1)';

/** Does something this many turns of the promise queue after a call, and waits until its processes are gone. */
async function atEachTick(of: (tick: number) => { answer: Promise<unknown>; end: () => unknown }) {
  const idle = descendants(process.pid).length;
  const results = await Promise.all(
    ticks.map(async (tick) => {
      const { answer, end } = of(tick);
      const settled = answer.catch((reason: unknown) => reason);
      for (let i = 0; i < tick; i++) await Promise.resolve();
      await end();
      return settled;
    }),
  );
  while (descendants(process.pid).length > idle) await wait(20);
  return results;
}

function abortsAtOnce(sandbox: () => Sandbox): void {
  const reasons = ticks.map((tick) => `after ${tick}`);
  const abortedAtEachTick = (ask: (signal: AbortSignal, tick: number) => Promise<RunResult>) =>
    atEachTick((tick) => {
      const abort = new AbortController();
      return { answer: ask(abort.signal, tick), end: () => abort.abort(`after ${tick}`) };
    });

  describe('aborted at any moment after a call', () => {
    const code = endless;

    test.each<SandboxRequest<RequestKind>>([
      { kind: 'run', code },
      { kind: 'calls', code, entry: 'f', args: [[1]] },
      { kind: 'judge', code, tests: { statements: ['assert True'] } },
    ])('ends a request of kind $kind at once', async (request) => {
      const ended = await abortedAtEachTick((signal) => sandbox().execute(request, signal));
      expect(ended).toEqual(reasons);
    });

    test('ends the first program of a session at once', async () => {
      const first = (signal: AbortSignal) => sandbox().openSession().run({ code }, signal);
      expect(await abortedAtEachTick(first)).toEqual(reasons);
    });

    test('ends a later program of a session at once, and the session goes on', async () => {
      const opened = ticks.map(() => sandbox().openSession());
      await Promise.all(opened.map((session) => session.run({ code: 'x = 1' })));
      const thrown = await abortedAtEachTick((signal, tick) =>
        opened[tick]!.run({ code: endless }, signal),
      );
      expect(thrown).toEqual(reasons);
      const next = opened.map((session) => session.run({ code: 'print("on")' }));
      for (const result of await Promise.all(next))
        expect(result).toMatchObject({ status: 'ok', stdout: 'on\n', alive: true });
      await Promise.all(opened.map((session) => session.close()));
    });

    test('ends the program of a session that is closed', async () => {
      const results = await atEachTick(() => {
        const session = sandbox().openSession();
        return { answer: session.run({ code: endless }), end: () => session.close() };
      });
      expect(results.map((result) => (result as RunResult).status)).not.toContain('timeout');
    });
  });
}

for (const level of ['ns', 'lite'] as const) {
  if (offersLevel(level)) {
    const incidents: string[] = [];
    const onIncident = ({ kind }: { kind: string }): unknown => incidents.push(kind);
    sandboxContract(
      `native:${level}`,
      () => NativeSandbox.start({ level, onIncident }),
      (backend, ask) => {
        runsAlike(backend, ask);
        hides(ask);
        sessions(backend, ask);
        abortsAtOnce(() => layered(backend(), [addLimits(unhurriedLimits)]));
        test('repairs nothing in all these tests', () => expect(incidents).toEqual([]));
      },
    );
  } else {
    test(`The sandbox native:${level} says why it is not available on this machine`, async () => {
      const started = NativeSandbox.start({ level });
      await expect(started).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    });
  }
}
