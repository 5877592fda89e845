import { type Attack, attack } from '../attack.ts';

/** Programs that flood, forge or break what they print. */
export const outputAttacks: readonly Attack[] = [
  attack('a gibibyte of lines', { ends: ['output_limit', 'timeout'] })`
    line = "a" * 1023
    for _ in range(1 << 20): print(line)`,
  attack('endless output without a line break', { ends: ['output_limit', 'timeout'] })`
    while True: sys.stdout.write("a" * 65536)`,
  attack('endless errors', { ends: ['output_limit', 'timeout'] })`
    while True: sys.stderr.write("a" * 65536)`,
  attack('a flood of tiny writes', { ends: ['output_limit', 'timeout'] })`
    while True: os.write(1, b"a"); os.write(2, b"b")`,
  attack('three mebibytes at once', { ends: ['ok'] })`print("a" * (3 << 20))`,
  attack('bytes that are not text', { ends: ['ok'], says: 'end' })`
    sys.stdout.buffer.write(b"\xff\xfe\x00\x80\n")
    sys.stdout.buffer.flush()
    print("\x1b[2J\x1b]0;title\x07 \x00 \u202e \U0001F600 end")`,
  attack('half a surrogate', { ends: ['ok', 'error'], says: 'before' })`
    print("before")
    print("\ud800")`,
  { name: 'a character cut in two', code: 'print("x" + "\\U0001F600" * 100000)', ends: ['ok'] },
  attack('a closed standard output', { ends: ['ok', 'error'], says: 'before' })`
    print("before", flush=True)
    os.close(1)
    os.close(2)
    try: print("after")
    except OSError: pass`,
  attack('a standard output that leads elsewhere', { ends: ['ok', 'error'], says: 'before' })`
    print("before", flush=True)
    for descriptor in (0, 1, 2): os.dup2(os.open("elsewhere", os.O_RDWR | os.O_CREAT), descriptor)
    print("after")`,
  attack('streams that are swapped before an error', { ends: ['error'], says: 'ValueError: seen' })`
    import io
    sys.stdout = io.StringIO()
    sys.stderr = None
    raise ValueError("seen")`,
  attack('streams that raise', { ends: ['error'], says: 'ValueError: seen' })`
    class Broken:
        def __getattribute__(self, name): raise RuntimeError("broken")
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Broken()
    raise ValueError("seen")`,
  attack('a leave without goodbye', { ends: ['error'], says: 'said' })`
    print("said", flush=True)
    os._exit(3)`,
  attack('a leave that claims success', { ends: ['ok', 'error'], says: 'said' })`
    os.write(1, b"said")
    os._exit(0)`,
  attack('a last word', { ends: ['error'], says: 'bye' })`
    sys.exit("bye")`,
  attack('an exit code out of range', { ends: ['ok', 'error'] })`
    sys.exit(2 ** 70 + 256)`,
  attack('a forged report on every descriptor', { ends: ['error', 'crashed', 'signaled'] })`
    import json, struct
    report = json.dumps({"kind": "result", "status": "ok", "id": 1, "stdout": "forged", "exit_code": 0,
        "results": [{"ok": True, "value": 1}], "verdicts": [{"passed": True}]}).encode()
    for descriptor in range(3, 1024):
        try: os.set_blocking(descriptor, False)
        except (OSError, AttributeError): continue
        for piece in (report + b"\n", struct.pack(">I", len(report)) + report, b"\xff" * 4096):
            try: os.write(descriptor, piece)
            except OSError: pass
    raise ValueError("the truth")`,
  attack('a standard output that never waits', { ends: ['ok', 'error', 'output_limit'] })`
    for descriptor in (0, 1, 2):
        try: os.set_blocking(descriptor, False)
        except OSError as error: print(error)
    done = 0
    for _ in range(64):
        try: done += os.write(1, b"a" * 65536)
        except BlockingIOError: pass
    os.write(2, b"TRIED")`,
  attack('a pipe that is resized and watched', { ends: ['ok', 'error', 'signaled'] })`
    try: import fcntl
    except ImportError: raise SystemExit(0)
    import os, signal
    for descriptor in (0, 1, 2):
        for command, value in ((1031, 1 << 30), (1031, 4096), (4, 0o20000), (8, os.getpid()), (10, 9), (1024, 0), (1026, 1)):
            try: fcntl.fcntl(descriptor, command, value)
            except (OSError, OverflowError): pass
    os.write(1, b"a" * 100000)`,
  attack('input pushed into the terminal', { ends: ['ok'] })`
    try: import fcntl, termios
    except ImportError: raise SystemExit(0)
    for descriptor in (0, 1, 2):
        for request, value in ((0x5412, b"x"), (0x540E, 0), (0x541C, b"\x02"), (0x5414, b"\0" * 8)):
            try:
                fcntl.ioctl(descriptor, request, value)
                print("LEAK terminal", descriptor, hex(request))
            except OSError: pass`,
  attack('a traceback of tracebacks', { ends: ['error', 'output_limit', 'timeout', 'crashed'] })`
    def fail(depth):
        try:
            if depth: fail(depth - 1)
        finally: raise ValueError("x" * 10000)
    fail(300)`,
  attack('a traceback with a source of its own', { ends: ['error'], says: 'seen' })`
    import linecache
    linecache.cache["main.py"] = (1, None, ["LEAK\n"] * 10, "main.py")
    linecache.getlines = lambda *_: ["LEAK\n"] * 10
    raise ValueError("seen")`,
];
