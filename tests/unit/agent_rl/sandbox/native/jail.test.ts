import { describe, expect, test } from '@jest/globals';

import { evaluatePython, hasNativePython } from '../../../../support/python.ts';

const withPython = hasNativePython ? describe : describe.skip;

withPython('The first process of a namespace', () => {
  // A session's first program may be done before this process runs again, and a signal that finds neither a handler nor
  // a blocking is dropped by the kernel: the session would then be paused when it should go on.
  test('holds the signals that pause a session before there is a program, whose own mask is untouched', () => {
    const masks = evaluatePython(`
import os, signal, types
import jail, kernel

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
namespace._as_root = False
namespace._become = lambda _user: None
try:
    namespace.enter({'user': 1, 'limits': {'disk_mib': 1, 'entries': 1}}, 3, program)
except Done:
    print(json.dumps([masks, sorted([signal.SIGCHLD, signal.SIGRTMIN])]))`);
    const [{ 'before the program': before, 'in the program': inside }, awaited] = masks as [
      Record<string, readonly number[]>,
      readonly number[],
    ];
    expect(before).toEqual(awaited);
    expect(inside).toEqual([]);
  });
});
