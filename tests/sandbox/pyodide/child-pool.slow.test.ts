import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { ChildPool, KilledItsChildren } from '#agent_rl/sandbox/pyodide/child-pool.ts';
import { findDistribution } from '#agent_rl/sandbox/pyodide/boot/distribution.ts';
import type { ChildRequest, ChildSettings } from '#agent_rl/sandbox/pyodide/protocol.ts';
import { escapedProbes } from '#agent_rl/sandbox/probes/probe-escapes.ts';
import { ChildDied, SandboxChild } from '#agent_rl/sandbox/pyodide/sandbox-child.ts';
import { ensureSnapshot, userCacheFolder } from '#agent_rl/sandbox/pyodide/boot/snapshot.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const cache = temporaryFolder();
const programs = temporaryFolder();

const common = { stdin: '', seed: 0, memoryBytes: 256 * 1024 * 1024 };
const request = (code: string, wallMs = 5000) => ({ ...common, code, wallMs });

/** A pool of one child that runs nothing and dies of a program when `death` says so. */
const poolOf = (death: (code: string) => ChildDied | undefined): ChildPool =>
  new ChildPool({ snapshotFolder: '', pyodideFolder: '' }, 1, () => {
    let die!: (death: ChildDied) => void;
    const died = new Promise<ChildDied>((resolve) => (die = resolve));
    const child: Pick<SandboxChild, 'died' | 'ready' | 'run' | 'end'> = {
      died,
      ready: async () => undefined,
      run: async ({ id, code }) => {
        const cause = death(code);
        if (cause === undefined) return { ...ran, id, stdout: `ran ${code}` };
        die(cause);
        throw cause;
      },
      end: async () => die(new ChildDied('at the end')),
    };
    return child as SandboxChild;
  });

const silent = { stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false };
const ran = { status: 'ok', ...silent, wallMs: 0, alive: true } as const;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const onLinux = process.platform === 'linux' ? test : test.skip;

describe('The pool of child processes', () => {
  let settings: ChildSettings;
  beforeAll(async () => {
    const distribution = findDistribution();
    const snapshotFolder = await ensureSnapshot(distribution, userCacheFolder());
    settings = { snapshotFolder, pyodideFolder: distribution.folder };
  });

  test('replaces a child that dies, and runs its program once more', async () => {
    const started: SandboxChild[] = [];
    const pool = new ChildPool(settings, 1, (given) => {
      const child = new SandboxChild(given);
      started.push(child);
      return child;
    });
    await pool.firstReady();
    const result = pool.submit(request('import time\ntime.sleep(0.3)\nprint("done")'));
    started[0]?.kill('the test says so');
    expect(await result).toMatchObject({ status: 'ok', stdout: 'done\n' });
    expect(started).toHaveLength(2);
    await pool.close();
  });

  test.each([
    ['gives up a program of which two children died', false, KilledItsChildren],
    ['does not blame a program for a child that is killed from outside', true, ChildDied],
  ])('%s, and serves the next', async (_, fromOutside, error) => {
    const pool = poolOf((code) =>
      code === 'deadly' ? new ChildDied('of this program', fromOutside) : undefined,
    );
    const deadly = pool.submit(request('deadly'));
    const next = pool.submit(request('print("next")'));
    await expect(deadly).rejects.toThrow('of this program');
    await expect(deadly).rejects.toBeInstanceOf(error);
    expect(await next).toMatchObject({ stdout: 'ran print("next")' });
    await pool.close();
  });

  test('distinguishes children that it killed from others', async () => {
    const children = [new SandboxChild(settings), new SandboxChild(settings)] as const;
    await Promise.all(children.map((child) => child.ready()));
    const endless = { ...request('while True: pass'), id: 1 };
    const running = Promise.allSettled(children.map((child) => child.run(endless)));
    children[0].kill('the test says so');
    killProcess(children[1].pid);
    const [byUs, bySystem] = await running;
    expect(byUs).toMatchObject({ reason: { name: 'ChildDied', fromOutside: false } });
    expect(bySystem).toMatchObject({ reason: { name: 'ChildDied', fromOutside: true } });
  });

  test('gives up children that cannot start', async () => {
    const pool = new ChildPool({ ...settings, snapshotFolder: tmpdir() }, 1);
    for (const _ of [1, 2])
      await expect(pool.submit(request('1'))).rejects.toThrow(/child process ended.*glue\.js/s);
    await pool.close();
  });

  onLinux(
    'reuses both interpreters of a judgement, and replaces one that a program broke',
    async () => {
      const child = new SandboxChild(settings);
      const threads = (): string[] => readdirSync(`/proc/${child.pid}/task`);
      let id = 0;
      const run = async (more: Partial<ChildRequest>): Promise<string[]> => {
        await child.ready();
        await child.run({ ...request('def f(x): return x'), ...more, id: id++ });
        await child.ready();
        return threads();
      };
      const tests = { statements: ['assert f([1]) == [1]', 'assert f(1) == 2'] };
      const task = { kind: 'judge', mostVerdictBytes: 9999, tests: JSON.stringify(tests) } as const;
      const before = await run({});
      const first = await run({ task });
      expect(first).toHaveLength(before.length + 1);
      for (let i = 0; i < 5; i++) expect(await run({ task })).toEqual(first);
      const broken = await run({ task, code: 'import os\ndef f(x): os._exit(1)' });
      expect(broken).toHaveLength(first.length);
      expect(first.filter((thread) => !broken.includes(thread))).toHaveLength(1);
      await child.end();
    },
  );

  test('ends with its own process, even when the children are busy', async () => {
    const dist = join(packageRoot(), 'dist', 'agent_rl', 'sandbox', 'pyodide');
    const program = writeBelow(
      programs,
      'trainer.mjs',
      `import { ChildDied, SandboxChild } from ${JSON.stringify(pathToFileURL(join(dist, 'sandbox-child.js')).href)};
const child = new SandboxChild(${JSON.stringify(settings)});
await child.ready();
void child.run({ ...${JSON.stringify(request('while True: pass', 60_000))}, id: 1 });
console.log(child.pid);`,
    );
    const trainer = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = (await once(trainer.stdout, 'data')) as [Buffer];
    const pid = Number(output.toString());
    expect(isAlive(pid)).toBe(true);
    trainer.kill('SIGKILL');
    await once(trainer, 'exit');
    const deadline = performance.now() + 30_000;
    while (isAlive(pid) && performance.now() < deadline) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isAlive(pid)).toBe(false);
  });
});

describe('The snapshot', () => {
  test('can be made twice at the same time, and replaces a damaged one', async () => {
    const distribution = findDistribution();
    const place = join(cache, distribution.key);
    writeBelow(place, 'snapshot.bin', 'cut off');
    const made = [ensureSnapshot(distribution, cache), ensureSnapshot(distribution, cache)];
    expect(await Promise.all(made)).toEqual([place, place]);
    expect(readdirSync(cache)).toEqual([distribution.key]);
    expect(await ensureSnapshot(distribution, cache)).toBe(place);
  });

  test('is refused if a probe says that it escaped', async () => {
    const { folder } = findDistribution();
    const settings = { snapshotFolder: join(cache, findDistribution().key), pyodideFolder: folder };
    const probes = { 'a liar': 'escaped()', 'an honest one': 'raise OSError' };
    expect(await escapedProbes(settings, probes)).toEqual(['a liar']);
  });

  test('is reported with its folder if it cannot be written', async () => {
    const file = writeBelow(cache, 'a-file', '');
    const made = ensureSnapshot(findDistribution(), join(file, 'cache'));
    await expect(made).rejects.toThrow(/could not be prepared in .*a-file/);
  });
});
