import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { messageOf } from '#agent_rl/core/errors.ts';
import type { SandboxIncident } from '#agent_rl/sandbox/incident.ts';
import { NativeSession } from '#agent_rl/sandbox/native/native-session.ts';
import { nativeLimits } from '#agent_rl/sandbox/native/protocol.ts';
import { SupervisorKeeper } from '#agent_rl/sandbox/native/supervisor-keeper.ts';
import { descendants } from '#tests/support/descendants.ts';
import { killProcess } from '#tests/support/kill-process.ts';
import { evaluatePython, hasNativePython, offersLevel } from '#tests/support/python.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

// Programs pass through it as other users of the machine.
const top = temporaryFolder();
chmodSync(top, 0o755);
const newFolder = (): string => {
  const folder = mkdtempSync(join(top, 'in-'));
  chmodSync(folder, 0o755);
  return folder;
};

const limits = nativeLimits(unhurriedLimits);
const program = (code: string) =>
  ({ do: 'run', entry: 'run', limits, job: JSON.stringify({ code, seed: 0 }), stdin: '' }) as const;
const printed = (reply: { stdout: string }): string =>
  Buffer.from(reply.stdout, 'base64').toString();

/** Processes whose command line holds a text. */
const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);

const level = offersLevel('ns') ? 'ns' : offersLevel('lite') ? 'lite' : undefined;
const native = level === undefined ? describe.skip : describe;
const options = { python: '/usr/bin/python3', level: level ?? 'ns', preload: [] } as const;

async function killed(keeper: SupervisorKeeper) {
  const supervisor = await keeper.current();
  killProcess(supervisor.pid);
  return supervisor;
}

native('A supervisor that dies', () => {
  const incidents: SandboxIncident[] = [];
  let keeper: SupervisorKeeper;
  beforeEach(async () => {
    incidents.length = 0;
    keeper = new SupervisorKeeper(options, (incident) => incidents.push(incident));
    await keeper.first();
  });
  afterEach(() => keeper.close());

  test('is restarted, and its programs are run once more', async () => {
    const running = Array.from({ length: 3 }, (_, i) =>
      keeper.ask(program(`import time\ntime.sleep(0.6)\nprint(${i})`)),
    );
    await wait(150);
    await killed(keeper);
    expect((await Promise.all(running)).map(printed)).toEqual(['0\n', '1\n', '2\n']);
    const kinds = incidents.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(['replay', 'replay', 'replay', 'restart']);
  });

  test('fails its program if the next one dies as well, and the next program runs', async () => {
    const running = keeper.ask(program('import time\ntime.sleep(30)')).catch(messageOf);
    await wait(150);
    await killed(keeper);
    await wait(300);
    await killed(keeper);
    expect(await running).toMatch(/supervisor process is no longer running/);
    expect(printed(await keeper.ask(program('print("on")')))).toBe('on\n');
  });

  test('is only reported as an incident if no program was running', async () => {
    await killed(keeper);
    await wait(100);
    expect(printed(await keeper.ask(program('print(1)')))).toBe('1\n');
    expect(incidents.map(({ kind }) => kind)).toEqual(['restart']);
    // It wrote nothing, so nothing follows a colon.
    expect(incidents[0]?.message).toMatch(/it ended with SIGKILL(?!:)/);
  });
});

native('A session whose supervisor dies', () => {
  const lost = {
    status: 'sandbox_error',
    message: expect.stringMatching(/session are lost, because its supervisor.*ended with SIGKILL/),
    stdout: '',
    alive: false,
  };
  let keeper: SupervisorKeeper;
  let session: NativeSession;
  beforeAll(async () => {
    keeper = new SupervisorKeeper(options, () => undefined);
    await keeper.first();
    const settings = { limits: unhurriedLimits, seed: 0, totalWallS: 600, level: options.level };
    session = new NativeSession(keeper, settings);
  });
  afterAll(async () => {
    await session.close();
    await keeper.close();
  });
  const dead = async () => {
    const supervisor = await killed(keeper);
    while (supervisor.death === undefined) await wait(10);
  };

  test('begins with the next supervisor if it has run no program yet', async () => {
    await dead();
    expect(await session.run({ code: 'print(1)' })).toMatchObject({ status: 'ok', alive: true });
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'between two programs',
      async () => {
        await dead();
        // Another program may have started the next supervisor.
        await keeper.current();
        return session.run({ code: 'print(x)' });
      },
    ],
    [
      'just before its next program',
      async () => {
        await killed(keeper);
        return session.run({ code: 'print(x)' });
      },
    ],
    [
      'during its program',
      async () => {
        const running = session.run({ code: 'import time\ntime.sleep(1000)' });
        await wait(200);
        await killed(keeper);
        return running;
      },
    ],
  ])('is lost, and begins anew, when it dies %s', async (_, runDespiteDeath) => {
    await session.run({ code: 'x = 1' });
    expect(await runDespiteDeath()).toMatchObject(lost);
    const next = await session.run({ code: 'print("x" in globals())' });
    expect(next).toMatchObject({ status: 'ok', stdout: 'False\n', alive: true });
  });
});

const trainer = `
import { NativeSandbox } from ${JSON.stringify(join(packageRoot(), 'dist/agent_rl/sandbox/native/native-sandbox.js'))};
const sandbox = await NativeSandbox.start({ level: process.argv[2] });
const limits = { wallS: 60 };
const request = { kind: 'run', code: 'while True: pass', limits };
for (let i = 0; i < 3; i++) void sandbox.execute(request);
const session = sandbox.openSession({ limits });
await session.run({ code: 'x = 1' });
console.log('running');
await new Promise(() => undefined);
`;

native('A trainer that is killed', () => {
  // Of this checkout, since another one on the same machine may have sandboxes as well.
  const supervisor = join(packageRoot(), 'agent_rl/sandbox/native/python');
  const offered = (['ns', 'lite'] as const).filter(offersLevel);

  test.each(offered)('leaves no process and no folder behind at level %s', async (of) => {
    const work = newFolder();
    const mark = writeBelow(top, `trainer-${of}.mjs`, trainer);
    const child = spawn(process.execPath, [mark, of], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: work },
    });
    await once(child.stdout, 'data');
    // Other tests have sandboxes at the same time.
    const mine = new Set(descendants(child.pid ?? 0));
    // Supervisor, zygote, and at least one process for each of four programs.
    expect(mine.size).toBeGreaterThanOrEqual(6);
    child.kill('SIGKILL');
    const left = (): number[] => processesWith(supervisor).filter((pid) => mine.has(pid));
    for (let i = 0; i < 50 && left().length > 0; i++) await wait(100);
    expect(left()).toEqual([]);
    expect(readdirSync(work)).toEqual([]);
  });
});

const lite = offersLevel('lite') ? describe : describe.skip;

lite('The working folder of level lite', () => {
  let base: string;
  beforeEach(() => {
    base = newFolder();
  });
  const inBase = () => ({ ...options, level: 'lite', base }) as const;

  test('is removed after a failed start', async () => {
    const keeper = new SupervisorKeeper({ ...inBase(), preload: ['no_such_module'] }, () => {});
    await expect(keeper.first()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(readdirSync(base)).toEqual([]);
  });

  test('is removed at the end if its supervisor died', async () => {
    const kinds: string[] = [];
    const keeper = new SupervisorKeeper(inBase(), ({ kind }) => kinds.push(kind));
    await keeper.first();
    await killed(keeper);
    await wait(200);
    expect(readdirSync(base)).toHaveLength(1);
    await keeper.close();
    expect(readdirSync(base)).toEqual([]);
    expect(kinds).toEqual(['swept']);
  });
});

const withPython = hasNativePython ? describe : describe.skip;

withPython('Sweeping working folders', () => {
  test('removes the folders of dead supervisors and keeps folders in use', () => {
    const parent = newFolder();
    const stale = join(parent, `agent-rl-sandbox-${process.getuid?.() ?? 0}-old`);
    mkdirSync(join(stale, 'run-1', ...Array(40).fill('deep')), { recursive: true });
    const outside = writeBelow(parent, 'outside', 'kept');
    const answer = evaluatePython(`
import os
from walls import work_folder
os.symlink(${JSON.stringify(outside)}, ${JSON.stringify(join(stale, 'run-1', 'link'))})
base, lock, swept = work_folder.open_base(${JSON.stringify(parent)})
second, _, again = work_folder.open_base(${JSON.stringify(parent)})
print(json.dumps([swept, again, os.path.isdir(base), os.path.isdir(second)]))`);
    expect(answer).toEqual([1, 0, true, true]);
    expect(existsSync(stale)).toBe(false);
    expect(readFileSync(outside, 'utf8')).toBe('kept');
  });

  test('removes folders however deeply a program nested them', () => {
    const answer = evaluatePython(`
import os
from walls import work_folder
top = os.path.join(${JSON.stringify(newFolder())}, 'top')
os.mkdir(top)
here = os.getcwd()
os.chdir(top)
for i in range(2500):
    os.mkdir('d')
    os.chdir('d')
os.chdir(here)
os.chmod(os.path.join(top, 'd'), 0)
work_folder.remove_tree(top)
print(json.dumps(os.path.exists(top)))`);
    expect(answer).toBe(false);
  });
});
