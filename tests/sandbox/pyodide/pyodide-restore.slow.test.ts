import { readdirSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import type { RequestKind, SandboxRequest } from '#agent_rl/core/services/sandbox.ts';
import { descendants } from '#tests/support/descendants.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

interface Trace {
  of: string;
  leave: string;
  /** Prints the same before and after. */
  look: string;
}

const stamps =
  'import os\nfor path in ("/", "/tmp", "/home", "/dev/null", "/dev/stdin"):\n    seen = os.stat(path)\n    print(path, oct(seen.st_mode), seen.st_mtime_ns, seen.st_atime_ns, seen.st_ino)';

const traces: readonly Trace[] = [
  {
    of: 'doubled and replaced descriptors',
    leave: 'import os\nos.dup2(0, 9)\nos.dup2(1, 0)\nprint(os.dup(2))',
    look: 'import os\nprint(os.listdir("/proc/self/fd")[:3], os.dup(2), input())',
  },
  {
    of: 'modes and times',
    leave:
      'import os\nos.utime("/home", (1, 1))\nos.chmod("/tmp", 0o700)\nopen("/tmp/x", "w")\nos.mkdir("/y")',
    look: stamps,
  },
  {
    of: 'removed folders',
    leave: 'import os\nos.rmdir("/home/web_user")\nos.chdir("/")\nos.rename("/home", "/house")',
    look: 'import os\nprint(os.listdir("/"), os.listdir("/home"), os.getcwd())',
  },
  {
    of: 'names of pipes',
    leave: 'import os\nprint(os.pipe())',
    look: 'import os\nends = os.pipe()\nprint(ends, [os.readlink("/proc/self/fd/%d" % end) for end in ends])',
  },
  {
    of: 'reads from the random devices',
    leave: 'open("/dev/urandom", "rb", buffering=0).read(5)',
    look: 'print(open("/dev/urandom", "rb", buffering=0).read(8))',
  },
  {
    of: 'functions found by their names',
    leave:
      'import _ctypes\nlibrary = _ctypes.dlopen(None, 2)\nprint([_ctypes.dlsym(library, name) for name in ("PyList_Size", "PyLong_AsDouble")])',
    look: 'import _ctypes\nprint(_ctypes.dlsym(_ctypes.dlopen(None, 2), "PyDict_Contains"))',
  },
];

const sandbox = startedSandbox();

describe('The restored interpreter', () => {
  const printed = async (code: string): Promise<string> => {
    const request = { kind: 'run', code, stdin: 'hello\n' } as const;
    const { status, stdout, stderr } = await sandbox().execute(request);
    expect({ status, stderr }).toEqual({ status: 'ok', stderr: '' });
    return stdout;
  };

  test.each(traces)('has no trace of $of', async ({ leave, look }) => {
    const before = await printed(look);
    for (let i = 0; i < 2; i++) {
      await printed(leave);
      expect(await printed(look)).toBe(before);
    }
  });
});

describe('Memory outside of Python', () => {
  test('is 64 KiB in a pipe, which can be read whole', async () => {
    const code =
      'import os\nr, w = os.pipe()\nprint(os.write(w, bytes(1 << 20)))\ntry: os.write(w, b"x")\nexcept BlockingIOError: print("full")\nprint(len(os.read(r, 5)), os.write(w, b"12345678"), len(os.read(r, 1 << 20)))';
    const { status, stdout } = await sandbox().execute({ kind: 'run', code });
    expect({ status, stdout }).toEqual({ status: 'ok', stdout: '65536\nfull\n5 5 65536\n' });
  });

  test.each([
    ['pipes', 'import os\nfor _ in range(1500): os.write(os.pipe()[1], bytes(1 << 16))'],
    ['a file that is cut to more than it has', 'open("f", "wb").truncate(1 << 30)'],
    ['a file that grows by cuts', 'f = open("f", "wb")\nfor i in range(99): f.truncate(i << 20)'],
  ])('is bounded by the quota of files for %s', async (_, code) => {
    const result = await sandbox().execute({ kind: 'run', code });
    expect(result.status).toBe('disk_limit');
    expect(result.stderr).toContain('No space left');
  });
});

const linux = process.platform === 'linux' ? describe : describe.skip;

/** The threads of all processes below this one; an interpreter is a thread. */
const threads = (): readonly string[] =>
  descendants(process.pid)
    .flatMap((pid) => readdirSync(`/proc/${pid}/task`))
    .toSorted();

linux('An interpreter', () => {
  const f = 'def f(x): return [x * 2 ** 0.5, "é€😀", {"a": (x, None)}, b"x"]';

  const ordinary =
    'import json, time, random, datetime\nopen("a", "w").write("é€😀")\nprint(open("a").read(), input(), json.dumps([random.random(), str(datetime.date.today())]))\ntime.sleep(0.01)';

  test.each<SandboxRequest<RequestKind>>([
    { kind: 'run', code: ordinary, stdin: 'ü\n' },
    { kind: 'calls', code: f, entry: 'f', args: [[1], [2.5], ['ñ']] },
    { kind: 'judge', code: f, tests: { statements: ['assert f(2)[0] > 2'] } },
  ])('serves on after a request of kind $kind', async (request) => {
    const ask = () => sandbox().execute(request);
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ status: 'ok' });
    const before = threads();
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ status: 'ok' });
    expect(threads()).toEqual(before);
  });

  test('is replaced after a program that opened a pipe', async () => {
    await sandbox().execute({ kind: 'run', code: 'pass' });
    const before = threads();
    for (let i = 0; i < 2; i++)
      await sandbox().execute({ kind: 'run', code: 'import os\nos.pipe()' });
    expect(threads()).not.toEqual(before);
  });
});
