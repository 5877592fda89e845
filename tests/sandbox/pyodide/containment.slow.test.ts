import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { RunResult } from '#agent_rl/core/services/sandbox.ts';
import { escapeProbes } from '#agent_rl/sandbox/probes/escape-probes.ts';
import { probeProgram } from '#agent_rl/sandbox/probes/probe-escapes.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

interface Attack {
  name: string;
  code: string;
  ends: readonly RunResult['status'][];
  says?: string;
}

const failing = ['error'] as const;

/** Programs that print LEAK when they got what they must not have. */
const attacks: readonly Attack[] = [
  {
    name: 'an endless loop',
    code: 'while True: pass',
    ends: ['timeout'],
    says: 'KeyboardInterrupt',
  },
  {
    name: 'a loop that ignores interrupts',
    code: 'while True:\n try:\n  while True: pass\n except BaseException: pass',
    ends: ['timeout'],
  },
  {
    name: 'a backtracking pattern',
    code: 'import re\nre.match(r"(a+)+$", "a"*60+"b")',
    ends: ['timeout'],
  },
  {
    name: 'an endless finaliser at exit',
    code: 'import atexit\natexit.register(lambda: all(True for _ in iter(int, 1)))',
    ends: ['timeout'],
  },
  {
    // As in CPython, what a finaliser raises is reported and changes no exit code.
    name: 'a finaliser that takes all memory',
    code: 'import atexit\natexit.register(lambda: bytearray(2**30))',
    ends: ['ok'],
    says: 'MemoryError',
  },
  { name: 'a huge power', code: 'x = 7**(10**9)', ends: ['timeout', 'memory_limit', 'error'] },
  { name: 'endless output', code: 'while True: print("a"*10000)', ends: ['output_limit'] },
  {
    name: 'endless errors',
    code: 'import sys\nwhile True: sys.stderr.write("a"*65536)',
    ends: ['output_limit'],
  },
  {
    name: 'a memory bomb',
    code: 'x=[]\nwhile True: x.append(bytearray(20<<20))',
    ends: ['memory_limit'],
  },
  {
    name: 'a memory bomb that goes on',
    code: 'x=[]\ntry:\n  while True: x.append(bytearray(20<<20))\nexcept MemoryError: print(len(x) < 9)',
    ends: ['ok'],
    says: 'True',
  },
  { name: 'endless recursion', code: 'def f(): f()\nf()', ends: failing, says: 'RecursionError' },
  {
    name: 'recursion without a limit',
    code: 'import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n+1)+1\nf(0)',
    ends: ['error', 'crashed', 'memory_limit', 'timeout'],
  },
  {
    name: 'deep nesting of the source',
    code: 'eval("("*100000+")"*100000)',
    ends: ['error', 'crashed', 'memory_limit'],
  },
  {
    name: 'broken bytecode',
    code: 'def f(): pass\nexec(f.__code__.replace(co_code=bytes([100,255]*40)))',
    ends: ['error', 'crashed', 'ok', 'timeout', 'memory_limit'],
  },
  {
    name: 'a null pointer',
    code: 'import ctypes\nctypes.string_at(0, 1<<30)',
    ends: ['error', 'crashed', 'ok', 'memory_limit'],
  },
  {
    name: 'writes over its own memory',
    code: 'import ctypes\nctypes.memset(8, 1, 1<<20)',
    ends: ['error', 'crashed', 'timeout', 'ok'],
  },
  {
    name: 'a disk bomb of many writes',
    code: 'f = open("f", "wb")\nwhile True: f.write(b"a" * (1 << 20))',
    ends: ['disk_limit'],
  },
  { name: 'a disk bomb', code: 'open("f","wb").write(bytes(70<<20))', ends: ['disk_limit'] },
  {
    name: 'a bomb of empty files',
    code: 'for i in range(100000): open("f%d"%i,"wb").close()',
    ends: ['disk_limit'],
  },
  { name: 'a fork', code: 'import os\nos.fork()\nprint("LEAK")', ends: failing },
  {
    name: 'a thread bomb',
    code: 'import threading\nfor _ in range(100): threading.Thread(target=print).start()',
    ends: failing,
  },
  {
    name: 'a subprocess',
    code: 'import subprocess\nsubprocess.run(["id"])\nprint("LEAK")',
    ends: failing,
  },
  {
    name: 'a kill of everything',
    code: 'import os,signal\nos.kill(-1, signal.SIGKILL)\nprint("survived")',
    ends: ['ok', 'error', 'crashed'],
  },
  {
    name: 'a closed standard output',
    code: 'import os\nos.close(1)\nos.close(2)',
    ends: ['ok', 'error'],
  },
  {
    name: 'a leave without goodbye',
    code: 'import os\nprint("x", flush=True)\nos._exit(3)',
    ends: failing,
    says: 'x',
  },
  {
    name: 'a patched runtime',
    code: 'import builtins,sys\nbuiltins.print=builtins.exec=builtins.len=None\nsys.exit=None\nraise ValueError("seen")',
    ends: failing,
    says: 'ValueError: seen',
  },
  {
    name: 'a swapped standard error',
    code: 'import sys,io\nsys.stderr=None\nsys.stdout=io.StringIO()\nraise ValueError("boom")',
    ends: failing,
    says: 'boom',
  },
  {
    name: 'symbolic links',
    code: 'import os\nos.symlink("/etc/passwd","p")\nprint("LEAK" if "root" in open("p").read() else "")',
    ends: failing,
  },
  {
    name: 'a device node',
    code: 'import os\nos.open("/dev/mem", os.O_RDONLY)\nprint("LEAK")',
    ends: failing,
  },
  {
    name: 'the frames above it',
    code: 'import sys\nf=sys._getframe()\nwhile f:\n  if "expected" in str(f.f_locals.keys()): print("LEAK")\n  f=f.f_back',
    ends: ['ok'],
  },
  {
    name: 'an alarm that rings later',
    code: 'import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)',
    ends: ['ok', 'error'],
  },
];

describe('Programs that attack the sandbox', () => {
  const sandbox = startedSandbox();
  const folder = mkdtempSync(join(tmpdir(), 'agent-rl-attack-'));
  let connections = 0;
  let server: Server;

  beforeAll(async () => {
    process.env['AGENT_RL_TEST_SECRET'] = 'hunter2-SECRET';
    server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    writeFileSync(join(folder, 'secret'), 'canary-77aa');
  });
  afterAll(() => {
    delete process.env['AGENT_RL_TEST_SECRET'];
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(attacks)('cannot do harm by $name', async ({ code, ends, says }) => {
    const wallS = ends.includes('timeout') ? 0.4 : unhurriedLimits.wallS;
    const run = await sandbox().execute({ kind: 'run', code, limits: { wallS, memoryMiB: 128 } });
    expect(run.stdout).not.toContain('LEAK');
    expect(ends).toContain(run.status);
    expect(run.stdout + run.stderr).toContain(says ?? '');
    expect(run.stdout.length).toBeLessThanOrEqual(65_536);
    expect(run.wallMs).toBeLessThan(1000 * wallS + 20_000);
  });

  test('leave a sandbox that still works', async () => {
    expect(await sandbox().execute({ kind: 'run', code: 'print(6 * 7)' })).toMatchObject({
      status: 'ok',
      stdout: '42\n',
    });
  });

  test('reach neither network, files, environment nor processes of the host by any known way out', async () => {
    const bait = {
      PORT: (server.address() as AddressInfo).port,
      SECRET_FILE: join(folder, 'secret'),
      WITNESS_FILE: join(folder, 'witness'),
      CANARY: 'canary-77aa',
    };
    const run = await sandbox().execute({ kind: 'run', code: probeProgram(escapeProbes, bait) });
    expect(run.stdout).toBe('ALL PROBES TRIED\n');
    expect(connections).toBe(0);
    expect(existsSync(bait.WITNESS_FILE)).toBe(false);
    expect(readFileSync(bait.SECRET_FILE, 'utf8')).toBe('canary-77aa');
    expect(Object.keys(escapeProbes).length).toBeGreaterThanOrEqual(30);
  });

  test('see nothing of the environment of the process that started the sandbox', async () => {
    const code = `import os
needle = bytes(reversed(b'TERCES-2retnuh'))
found = needle.decode() in str(dict(os.environ))
print(found, sorted(os.environ))`;
    const run = await sandbox().execute({ kind: 'run', code });
    expect(run.stdout).toContain('False');
    expect(run.stdout + run.stderr).not.toContain('SECRET');
  });
});
