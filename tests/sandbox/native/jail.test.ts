import { describe, expect, test } from '@jest/globals';

import { evaluatePython, hasNativePython } from '#tests/support/python.ts';

const withPython = hasNativePython ? describe : describe.skip;

withPython('The first process of a namespace', () => {
  // A session's first program may end before this process runs again. The kernel drops a signal that is neither handled nor
  // blocked, and the session would stay paused.
  test('blocks the signals that pause a session before it starts a program, and not in the program', () => {
    const masks = evaluatePython(`
import os, signal, types
from walls import jail, kernel

masks = {}
mask = lambda: sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))

class Done(Exception):
    pass

def fork():
    masks['before the program'] = mask()
    return 0

def program(_work):
    masks['in the program'] = mask()
    raise Done

kernel.mount = kernel.die_with_parent = kernel.drop_capabilities = lambda *_, **__: None
os.fork = fork
namespace = object.__new__(jail.NamespaceJail)
namespace._as_root, namespace._group = False, 1
namespace._become = lambda _user: None
try:
    namespace.enter({'user': 1, 'limits': {'disk_mib': 1, 'entries': 1}}, 3, program)
except Done:
    print(json.dumps([masks, sorted([signal.SIGCHLD, signal.SIGRTMIN])]))`);
    const [{ 'before the program': before, 'in the program': inside }, awaited] = masks as [
      Record<string, readonly number[]>,
      number[],
    ];
    expect(before).toEqual(awaited);
    expect(inside).toEqual([]);
  });
});

withPython('The jail', () => {
  const usersOf = (asRoot: boolean, taken: string): unknown =>
    evaluatePython(`
import os
from walls import jail
own = object.__new__(jail.NamespaceJail)
own._as_root, own._spawned = ${asRoot ? 'True' : 'False'}, 0
taken = ${taken}
try:
    print(json.dumps([own.next_user(taken) for _ in range(1000)]))
except OSError as error:
    print(json.dumps(str(error)))`);

  test('reports why the kernel refuses a clone', () => {
    // CLONE_THREAD without what it needs.
    const answer = evaluatePython(`
from walls import kernel
try:
    kernel.clone(0x10000)
except OSError as error:
    print(json.dumps(error.errno))`);
    const EINVAL = 22;
    expect(answer).toBe(EINVAL);
  });

  test('reuses the users of runs that have ended', () => {
    const users = usersOf(true, '{64002, 64005}') as number[];
    expect(users.slice(0, 4)).toEqual([64001, 64003, 64004, 64006]);
    expect(users.slice(998)).toEqual([64001, 64003]);
  });

  test('reports that all users are in use', () => {
    expect(usersOf(true, 'range(64000, 65000)')).toMatch(/all 1000 users for runs are in use/);
  });

  test('uses the one user it has without root', () => {
    const users = new Set(usersOf(false, '{os.getuid()}') as number[]);
    expect([...users]).toEqual([process.getuid?.()]);
  });
});

withPython('The jail without root', () => {
  test.each([
    ['5.14.0-1-amd64', 'own'],
    ['6.1.0', 'own'],
    ['5.13.19', 'shared'],
    ['5.4.0-generic', 'shared'],
    // Where the kernel refuses a namespace.
    ['6.1.0', 'shared', 'raise PermissionError()'],
  ])(
    'reports that threads on Linux %s are counted as %s',
    (release, reported, unshare = 'pass') => {
      const answer = evaluatePython(`
import os, platform
from walls import jail, kernel, root_folder
def unshare(_flags): ${unshare}
platform.release = lambda: '${release}'
os.getuid = lambda: 1000
root_folder.enter_namespaces = root_folder.keep_user = lambda *_: None
kernel.unshare = unshare
print(json.dumps(jail.NamespaceJail([]).describe()['tasks']))`);
      expect(answer).toBe(reported);
    },
  );
});
