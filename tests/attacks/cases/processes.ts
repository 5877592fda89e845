import { type Attack, attack, bait, tried } from '../attack.ts';
import { kernelCalls } from '../kernel-calls.ts';
import { python } from '../python.ts';

const refusedOrTried = ['ok', 'error', 'timeout', 'signaled', 'memory_limit'] as const;

/** Programs that start, find, spy on or harm processes. */
export const processAttacks: readonly Attack[] = [
  // Bounded, so that it ends even if it is not contained.
  attack('many forks', { ...tried, ends: refusedOrTried, alone: true })`
    import time
    children = 0
    try:
        for _ in range(400):
            if os.fork() == 0:
                time.sleep(1)
                os._exit(0)
            children += 1
    except OSError as error: print(error)
    if children > 100: print("LEAK", children, "children")`,
  attack('forks of forks', { ends: refusedOrTried, alone: true })`
    import time
    try:
        for _ in range(8): os.fork()
    except OSError: pass
    time.sleep(1)`,
  {
    name: 'all threads there are, held',
    code: python`
      import os, threading, time
      wait, begun, made = threading.Event(), time.time(), 0
      try: threading.stack_size(32768)
      except (RuntimeError, ValueError): pass
      while time.time() - begun < 1.5:
          try:
              threading.Thread(target=wait.wait, daemon=True).start()
              made += 1
          except RuntimeError: time.sleep(0.001)
      print("LEAK" if made > 64 else "TRIED", made, flush=True)
      os._exit(0)`,
    // Where threads can only be counted from outside it is killed.
    ends: ['ok', 'signaled'],
    beside: {
      code: python`
        import sys, time
        from concurrent.futures import ThreadPoolExecutor
        time.sleep(0.7)
        if sys.platform == "emscripten": print(285)
        else:
            with ThreadPoolExecutor(8) as pool: print(sum(pool.map(lambda x: x * x, range(10))))`,
      prints: '285\n',
    },
  },
  attack('many threads', { ends: ['ok', 'timeout', 'memory_limit'], alone: true })`
    import threading, time
    started = 0
    try:
        for _ in range(3000):
            threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
            started += 1
    except RuntimeError as error: print(error)
    if started > 300: print("LEAK", started, "threads")
    print("TRIED")`,
  attack('a shell', { ...tried, settleMs: 100 })`
    import subprocess
    for start in (
        lambda: subprocess.run(["/bin/sh", "-c", "echo LEAK by subprocess"]),
        lambda: os.system("echo LEAK by system"),
        lambda: os.popen("echo LEAK by popen").read(),
        lambda: os.posix_spawn("/bin/echo", ["echo", "LEAK by spawn"], {}),
    ):
        try: print(start())
        except Exception as error: print(type(error).__name__)`,
  attack('another program in its place', tried)`
    for path in ("/bin/sh", "/usr/bin/python3", "/bin/echo"):
        try: os.execve(path, [path, "-c", "echo LEAK by exec"], {"LD_PRELOAD": "./evil.so"})
        except Exception as error: print(type(error).__name__)`,
  attack('a pool of processes', { ends: ['ok', 'error', 'timeout'] })`
    import multiprocessing
    try:
        with multiprocessing.get_context("fork").Pool(4) as pool:
            if sum(pool.map(abs, range(-9, 0))) == 45: print("LEAK by pool")
    except (OSError, ImportError, ValueError, AttributeError) as error: print(type(error).__name__)
    print("TRIED")`,
  attack('a daemon that outlives the program', { ...tried, ends: ['ok', 'error'], settleMs: 400 })`
    import ctypes, time
    def daemon():
        ctypes.CDLL(None).prctl(15, b"${bait.marker}", 0, 0, 0)
        for descriptor in range(3): os.close(descriptor)
        time.sleep(20)
        os._exit(0)
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0: daemon()
            os._exit(0)
    except OSError as error: print(error)`,
  attack('signals to a process of the host', tried)`
    import signal
    for send in (os.kill, getattr(os, "killpg", os.kill)):
        for number in (0, signal.SIGUSR2, signal.SIGTERM, signal.SIGKILL):
            try:
                send(${bait.victimPid}, number)
                print("LEAK sent", number)
            except Exception as error: print(type(error).__name__)`,
  attack('signals by every other call', { ...tried, prefix: kernelCalls })`
    SIGUSR2, GONE = 12, (errno.ESRCH, errno.EBADF, errno.EINVAL)
    attack('tkill', ${bait.victimPid}, SIGUSR2, refusals=GONE)
    attack('tgkill', ${bait.victimPid}, ${bait.victimPid}, SIGUSR2, refusals=GONE)
    descriptor = attack('pidfd_open', ${bait.victimPid}, 0, refusals=GONE)
    attack('pidfd_send_signal', descriptor, SIGUSR2, 0, 0, refusals=GONE)`,
  // Processes ignore signal 28 unless they handle it.
  attack('a signal to every process', { ends: ['ok', 'error', 'signaled'], settleMs: 100 })`
    for whom in (-1, 0, -os.getppid() or -1):
        try: os.kill(whom, 28)
        except Exception as error: print(type(error).__name__)
    print("TRIED")`,
  attack('the end of those above it', { ends: ['ok', 'error', 'signaled', 'crashed'] })`
    import signal
    for whom in {os.getppid(), 1} - {0, os.getpid()}:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try: os.kill(whom, number)
            except Exception as error: print(type(error).__name__)
    print("TRIED")`,
  attack('the memory of other processes', { ...tried, prefix: kernelCalls })`
    GONE = (errno.ESRCH,)
    room = ctypes.create_string_buffer(64)
    class Piece(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
    local = Piece(ctypes.addressof(room), 64)
    for pid in {os.getppid(), ${bait.victimPid}} - {0, os.getpid()}:
        attack('ptrace', 0x4206, pid, 0, 0, refusals=GONE)
        for name in ('process_vm_readv', 'process_vm_writev'):
            attack(name, pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0, refusals=GONE)
        for part in ('maps', 'mem', 'environ', 'auxv', 'syscall', 'root/etc/passwd', 'cwd', 'fd/0'):
            try:
                with open("/proc/%d/%s" % (pid, part), "rb") as file: print("LEAK opened", pid, part)
            except OSError as error: print(type(error).__name__)`,
  attack('the descriptors of other processes', { ...tried, prefix: kernelCalls })`
    for pid in {os.getppid(), ${bait.victimPid}} - {0, os.getpid()}:
        descriptor = call('pidfd_open', pid, 0)
        for theirs in range(12):
            attack('pidfd_getfd', descriptor, theirs, 0, refusals=(errno.EBADF, errno.ESRCH))
        attack('kcmp', os.getpid(), pid, 0, 0, 0, refusals=(errno.ESRCH,))`,
  attack('the scheduling of other processes', { ...tried, prefix: kernelCalls })`
    GONE = (errno.ESRCH, errno.EACCES)
    room = ctypes.create_string_buffer(64)
    for pid in {os.getppid(), ${bait.victimPid}} - {0, os.getpid()}:
        attack('setpriority', 0, pid, 19, refusals=GONE)
        attack('sched_setscheduler', pid, 3, ctypes.byref(room), refusals=GONE)
        attack('sched_setattr', pid, (ctypes.c_uint32 * 14)(48, 3), 0, refusals=GONE)
        attack('sched_setaffinity', pid, 8, ctypes.byref(ctypes.c_long(1)), refusals=GONE)
        attack('ioprio_set', 1, pid, 3 << 13, refusals=GONE)
        attack('prlimit64', pid, 4, (ctypes.c_uint64 * 2)(0, 0), 0, refusals=GONE)
        attack('migrate_pages', pid, 8, ctypes.byref(room), ctypes.byref(room), refusals=GONE)
        attack('move_pages', pid, 0, 0, 0, 0, 0, refusals=GONE)`,
  attack('the pages of other processes', { ...tried, prefix: kernelCalls })`
    for pid in {os.getppid(), ${bait.victimPid}} - {0, os.getpid()}:
        descriptor = call('pidfd_open', pid, 0)
        attack('process_madvise', descriptor, 0, 0, 21, 0, refusals=(errno.EBADF, errno.ESRCH))
        attack('process_mrelease', descriptor, 0, refusals=(errno.EBADF, errno.ESRCH))`,
  attack('a higher priority', tried)`
    for raise_it in (
        lambda: os.nice(-20),
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
        lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    ):
        try:
            raise_it()
            print("LEAK raised")
        except Exception as error: print(type(error).__name__)`,
];
