import { type Attack, attack } from '../attack.ts';

const dead = ['signaled', 'crashed', 'error'] as const;
/** WebAssembly reads and writes at address 0 without a fault. */
const deadOrNot = [...dead, 'ok', 'timeout', 'memory_limit'] as const;

/** Programs that break their interpreter. */
export const crashAttacks: readonly Attack[] = [
  attack('a read at address 0', { ends: deadOrNot })`
    import ctypes
    ctypes.string_at(0)`,
  attack('a write near address 0', { ends: deadOrNot })`
    import ctypes
    ctypes.memset(8, 1, 1 << 20)`,
  attack('a read of a gibibyte', { ends: deadOrNot })`
    import ctypes
    ctypes.string_at(4096, 1 << 30)`,
  attack('an abort', { ends: dead })`
    os.abort()`,
  attack('an abort that wants a core file', { ends: dead })`
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
    except (ImportError, ValueError, OSError): pass
    os.abort()`,
  attack('broken bytecode', { ends: deadOrNot })`
    def f(): pass
    exec(f.__code__.replace(co_code=bytes([100, 255] * 40)))`,
  attack('a kill of itself', { ends: [...dead, 'ok'] })`
    import signal
    os.kill(os.getpid(), signal.SIGKILL)
    print("on")`,
  attack('every signal to itself', { ends: [...dead, 'ok', 'timeout'] })`
    for number in range(1, 65):
        if number in (9, 19): continue
        try: os.kill(os.getpid(), number)
        except (OSError, ValueError, KeyboardInterrupt): pass
    print("on")`,
  attack('an interpreter that is ended from within', { ends: deadOrNot })`
    import ctypes
    ctypes.pythonapi.Py_FinalizeEx()
    print("on")`,
  attack('an exit from within the C library', { ends: deadOrNot })`
    import ctypes
    ctypes.pythonapi.Py_Exit(0)`,
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
  attack('every descriptor closed', { ends: deadOrNot })`
    os.closerange(0, 1024)
    print("on")`,
  attack('built-ins that are gone', { ends: ['error', 'crashed', 'signaled'] })`
    import builtins
    for name in list(vars(builtins)):
        if name not in ("ValueError", "delattr", "__import__"): delattr(builtins, name)
    raise ValueError("seen")`,
  attack('modules that are gone', { ends: ['error'], says: 'seen' })`
    sys.modules.clear()
    sys.path.clear()
    sys.meta_path.clear()
    raise ValueError("seen")`,
  // It may spoil its own traceback; that it failed stays true.
  attack('a runtime that says nothing happened', { ends: ['error'] })`
    import builtins, json, traceback
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
    import gc
    class Odd:
        def __del__(self): raise SystemExit(7)
    gc.callbacks.append(lambda *_: 1 / 0)
    sys.unraisablehook = lambda *_: 1 / 0
    for _ in range(100): kept = [Odd()]; kept.append(kept)
    del kept
    gc.collect()
    print("on")`,
];
