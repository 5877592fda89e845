import { type Attack, attack } from '../attack.ts';

const late = ['timeout'] as const;
/** For backends without signals, threads or timers. */
const lateOrUnable = ['timeout', 'error', 'signaled', 'crashed'] as const;

/** Programs that try to run forever. */
export const timeAttacks: readonly Attack[] = [
  attack('an endless loop', { ends: late })`while True: pass`,
  attack('an endless sleep', { ends: late })`
    import time
    while True: time.sleep(1000)`,
  attack('a backtracking pattern', { ends: late })`
    import re
    re.match(r"(a+)+$", "a" * 60 + "b")`,
  attack('a huge power', { ends: ['timeout', 'memory_limit', 'error', 'signaled'] })`
    x = 7 ** (10 ** 9)
    print(x % 10)`,
  attack('a huge number as text', { ends: ['timeout', 'memory_limit', 'error'] })`
    sys.set_int_max_str_digits(0)
    print(len(str(3 ** (10 ** 8))))`,
  attack('a loop that catches whatever ends it', { ends: late })`
    while True:
        try:
            while True: pass
        except BaseException: pass`,
  attack('a loop that ignores all signals', { ends: late })`
    import signal
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: pass`,
  attack('a loop that blocks all signals', { ends: late })`
    import signal
    try: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    except AttributeError: pass
    while True: pass`,
  attack('a program that stops itself', { ends: ['timeout', 'ok', 'error', 'signaled'] })`
    import signal
    os.kill(os.getpid(), signal.SIGSTOP)
    print("woken")`,
  attack('an exit function that never returns', { ends: late })`
    import atexit
    atexit.register(lambda: all(True for _ in iter(int, 1)))`,
  attack('a finaliser that never returns', { ends: late })`
    class Endless:
        def __del__(self):
            while True: pass
    kept = Endless()
    del kept`,
  attack('an exception whose text is never finished', { ends: late })`
    class Endless(Exception):
        def __str__(self):
            while True: pass
    raise Endless()`,
  attack('an output that never finishes its flush', { ends: late })`
    class Endless:
        def write(self, text): return len(text)
        def flush(self):
            while True: pass
    sys.stdout = Endless()`,
  attack('eight threads that burn time while the first sleeps', { ends: lateOrUnable })`
    import hashlib, threading, time
    data = b"x" * (1 << 20)
    def burn():
        while True: hashlib.sha256(data).digest()
    for _ in range(8): threading.Thread(target=burn, daemon=True).start()
    time.sleep(1000)`,
  attack('a thread that outlives the program', { ends: lateOrUnable })`
    import threading, time
    threading.Thread(target=time.sleep, args=(1000,)).start()
    print("main ends")`,
  attack('a handler for the limit of processor time', { ends: lateOrUnable })`
    import resource, signal
    signal.signal(signal.SIGXCPU, lambda *_: None)
    try: resource.setrlimit(resource.RLIMIT_CPU, (1, 1 << 30))
    except ValueError: pass
    while True: pass`,
  attack('a storm of timers', { ends: lateOrUnable })`
    import signal
    count = 0
    def ring(*_):
        global count
        count += 1
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.00001, 0.00001)
    while True: pass`,
  attack('a read that waits forever', { ends: lateOrUnable })`
    reading, writing = os.pipe()
    os.read(reading, 1)`,
  attack('a session of its own', { ends: late })`
    for leave in (os.setsid, os.setpgrp, lambda: os.setpgid(0, 0)):
        try: leave()
        except OSError: pass
    while True: pass`,
  attack('a trace function that never returns', { ends: ['timeout', 'ok'] })`
    def trace(*_):
        while True: pass
    sys.settrace(trace)
    sys.setprofile(trace)
    print("traced")`,
];
