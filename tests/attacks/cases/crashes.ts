import { type Attack, attack } from '../attack.ts';

const dead = ['signaled', 'crashed', 'error'] as const;
/** WebAssembly reads and writes at address 0 without a fault. */
const deadOrNot = [...dead, 'ok', 'timeout', 'memory_limit'] as const;

/** Programs that break their interpreter. */
export const crashAttacks: readonly Attack[] = [
  { name: 'a read at address 0', code: 'import ctypes\nctypes.string_at(0)', ends: deadOrNot },
  {
    name: 'a write near address 0',
    code: 'import ctypes\nctypes.memset(8, 1, 1 << 20)',
    ends: deadOrNot,
  },
  {
    name: 'a read of a gibibyte',
    code: 'import ctypes\nctypes.string_at(4096, 1 << 30)',
    ends: deadOrNot,
  },
  { name: 'an abort', code: 'import os\nos.abort()', ends: dead },
  attack('an abort that wants a core file', { ends: dead })`
    import os
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
    except (ImportError, ValueError, OSError): pass
    os.abort()`,
  {
    name: 'broken bytecode',
    code: 'def f(): pass\nexec(f.__code__.replace(co_code=bytes([100, 255] * 40)))',
    ends: deadOrNot,
  },
  {
    name: 'a kill of itself',
    code: 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nprint("on")',
    ends: [...dead, 'ok'],
  },
  attack('every signal to itself', { ends: [...dead, 'ok', 'timeout'] })`
    import os
    for number in range(1, 65):
        if number in (9, 19): continue
        try: os.kill(os.getpid(), number)
        except (OSError, ValueError, KeyboardInterrupt): pass
    print("on")`,
  {
    name: 'an interpreter that is ended from within',
    code: 'import ctypes\nctypes.pythonapi.Py_FinalizeEx()\nprint("on")',
    ends: deadOrNot,
  },
  {
    name: 'an exit from within the C library',
    code: 'import ctypes\nctypes.pythonapi.Py_Exit(0)',
    ends: deadOrNot,
  },
  attack('types that are overwritten', { ends: deadOrNot })`
    import ctypes
    for kind in (int, str, dict, list, tuple): ctypes.memset(id(kind) + 24, 255, 64)
    print({1: [str(2)]})`,
  attack('objects that are freed too often', { ends: deadOrNot })`
    import ctypes
    kept = ["a" * 100, {}, [], object()]
    for item in kept:
        for _ in range(9): ctypes.pythonapi.Py_DecRef(ctypes.py_object(item))
    del kept, item
    print([str(number) for number in range(1000)])`,
  {
    name: 'every descriptor closed',
    code: 'import os\nos.closerange(0, 1024)\nprint("on")',
    ends: deadOrNot,
  },
  attack('built-ins that are gone', { ends: ['error', 'crashed', 'signaled'] })`
    import builtins, sys
    for name in list(vars(builtins)):
        if name not in ("ValueError", "delattr", "__import__"): delattr(builtins, name)
    raise ValueError("seen")`,
  {
    name: 'modules that are gone',
    code: 'import sys\nsys.modules.clear()\nsys.path.clear()\nsys.meta_path.clear()\nraise ValueError("seen")',
    ends: ['error'],
    says: 'seen',
  },
  // It may spoil its own traceback; that it failed stays true.
  attack('a runtime that says nothing happened', { ends: ['error'] })`
    import builtins, json, os, sys, traceback
    builtins.print = lambda *_, **__: None
    builtins.len = lambda _: 0
    builtins.exec = builtins.compile = None
    json.dumps = lambda *_, **__: '{"status": "ok"}'
    traceback.print_exception = traceback.format_exception = lambda *_, **__: []
    sys.exit = os._exit = lambda *_: None
    os.write = lambda *_: 0
    sys.excepthook = lambda *_: None
    raise ValueError("seen")`,
  attack('an exception that cannot be shown', { ends: ['error', 'memory_limit', 'crashed'] })`
    class Odd(BaseException):
        def __str__(self): raise Odd
        __repr__ = __class__ = __traceback__ = property(__str__)
        def __getattribute__(self, name): raise MemoryError
    raise Odd`,
  attack('a garbage collector that raises', { ends: ['ok', 'error'], says: 'on' })`
    import gc, sys
    class Odd:
        def __del__(self): raise SystemExit(7)
    gc.callbacks.append(lambda *_: 1 / 0)
    sys.unraisablehook = lambda *_: 1 / 0
    for _ in range(100): kept = [Odd()]; kept.append(kept)
    del kept
    gc.collect()
    print("on")`,
];
