import { type Attack, attack, tried } from '../attack.ts';
import { kernelCalls } from '../kernel-calls.ts';
import { python } from '../python.ts';

/** A filter may end the program instead of refusing the call. */
const refused = { ...tried, ends: ['ok', 'signaled'], prefix: kernelCalls } as const;
const gone = ['ok', 'error', 'signaled', 'crashed'] as const;

/** Machine code that asks for the process number in a way that may bypass a filter. */
const machineCode = (code: string, what: string): string => python`
  import ctypes, mmap, platform
  if platform.machine() == "x86_64":
      try:
          room = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
          room.write(bytes.fromhex("${code}"))
          answer = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
          print(answer)
          if answer > 0: print("LEAK ${what}")
      except (OSError, ValueError, PermissionError) as error: print(type(error).__name__)
  print("TRIED")`;

const byDoor = (door: string, code: string): Attack => ({
  name: `calls by the door for ${door} programs`,
  code: machineCode(code, `the ${door} door is open`),
  ends: gone,
});

/** Programs that make system calls that no program of a model needs. */
export const kernelAttacks: readonly Attack[] = [
  attack('namespaces of its own', refused)`
    for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x80):
        attack('unshare', flag)
        attack('unshare', flag | 0x10000000)
    for number in range(3, 64): attack('setns', number, 0, refusals=(errno.EBADF, errno.EINVAL))
    attack('setns', call('pidfd_open', os.getpid(), 0), 0x10000000, refusals=(errno.EBADF, errno.EINVAL))`,
  attack('children in namespaces', refused)`
    for flags in (0x10000000, 0x10000000 | 0x40000000, 0x20000000, 0x20000):
        answer = attack('clone', flags | 17, 0, 0, 0, 0)
        if answer == 0: os._exit(0)
        request = (ctypes.c_uint64 * 8)(flags, 0, 0, 0, 17, 0, 0, 0)
        answer = attack('clone3', ctypes.byref(request), 64)
        if answer == 0: os._exit(0)`,
  attack('programs for the kernel', refused)`
    attack('bpf', 0, ctypes.byref((ctypes.c_uint32 * 32)(2, 4, 4, 1)), 128)
    attack('bpf', 5, ctypes.byref((ctypes.c_uint64 * 16)()), 128)
    attack('perf_event_open', ctypes.byref((ctypes.c_uint32 * 32)(1, 128)), 0, -1, -1, 0)`,
  attack('queues that are shared with the kernel', refused)`
    attack('io_uring_setup', 4, ctypes.create_string_buffer(256))
    context = ctypes.c_ulong(0)
    attack('io_setup', 4, ctypes.byref(context))`,
  attack('faults it handles itself', refused)`
    for flags in (0, 1, 0o2000000, 0o2004001): attack('userfaultfd', flags)`,
  attack('keys of the kernel', refused)`
    attack('keyctl', 0, -3, 1)
    attack('add_key', b"user", b"x", b"y", 1, -3)
    attack('request_key', b"user", b"x", 0, -3)`,
  attack('mounts', refused)`
    # Over its own folder, so that it does the host no harm if it works.
    os.mkdir("jail")
    for what, kind, flags in ((b"none", b"tmpfs", 0), (b"/", 0, 4096), (b"proc", b"proc", 0)):
        if attack('mount', what, b"jail", kind, flags, 0) >= 0: call('umount2', b"jail", 2)
    attack('umount2', b"jail", 2, refusals=(errno.EINVAL,))
    attack('fsopen', b"tmpfs", 0)
    attack('open_tree', -100, b"/", 1)
    attack('mount_setattr', -100, b"jail", 0, ctypes.byref((ctypes.c_uint64 * 4)(1)), 32, refusals=(errno.EINVAL,))`,
  attack('another root', refused)`
    os.mkdir("jail")
    attack('chroot', b"jail")
    attack('chroot', b".")
    attack('pivot_root', b".", b".")`,
  attack('another user', refused)`
    groups = getattr(os, 'getgroups', list)
    for name, arguments in (('setuid', (0,)), ('setgid', (0,)), ('setresuid', (0, 0, 0)),
                            ('setgroups', (1, ctypes.byref(ctypes.c_uint32(0))))):
        before = os.getuid(), os.getgid(), groups()
        answer = call(name, *arguments)
        if answer >= 0 and before != (os.getuid(), os.getgid(), groups()): print('LEAK', name)
    if sys.platform != 'emscripten' and os.getuid() == 0: print('LEAK it runs as root')
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    attack('capset', ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)(*[0xffffffff] * 6)))`,
  attack('powers it must not have', refused)`
    try: status = open("/proc/self/status").read()
    except OSError: status = ""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name in ("CapInh", "CapPrm", "CapEff", "CapAmb") and int(value, 16): print('LEAK', line)
        if name in ("NoNewPrivs", "Seccomp") and not int(value): print('LEAK', line)
    for number in range(0, 41):
        # Whether the bounding set holds it, and whether it can be handed on.
        if call('prctl', 23, number, 0, 0, 0) == 1 and call('prctl', 47, 2, number, 0, 0) >= 0: print('LEAK', number)
    for option, value in ((4, 1), (38, 0)): print(option, call('prctl', option, value, 0, 0, 0))
    attack('prctl', 35, 1, 0, 0, 0, refusals=(errno.EINVAL,))
    attack('prctl', 28, 1 << 5, 0, 0, 0, refusals=(errno.EINVAL,))`,
  attack('higher limits', { ends: ['ok'] })`
    try: import resource
    except ImportError: raise SystemExit(0)
    for name in ("AS", "DATA", "FSIZE", "NOFILE", "NPROC", "CPU", "CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "STACK"):
        kind = getattr(resource, "RLIMIT_" + name)
        for limits in ((-1, -1), (1 << 40, 1 << 40)):
            before = resource.getrlimit(kind)
            try: resource.setrlimit(kind, limits)
            except (OSError, ValueError): continue
            if before[1] != -1: print("LEAK", name, before, resource.getrlimit(kind))`,
  attack('another personality', refused)`
    before = call('personality', 0xffffffff)
    for persona in (0x0040000, 0x0400000, 0x0100000, 0x8): attack('personality', persona)
    if call('personality', 0xffffffff) != before: print('LEAK a personality')`,
  attack('filters with a listener', refused)`
    class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
    allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)
    program = Program(1, ctypes.addressof(allow))
    # Flag 8 gives a descriptor that decides about the calls of others.
    for flags in (8, 8 | 32): attack('seccomp', 1, flags, ctypes.byref(program), refusals=(errno.EBUSY,))`,
  attack('the machine itself', refused)`
    attack('reboot', 1, 2, 3, 0)
    attack('kexec_load', 0, 0, 0, 0)
    attack('init_module', 0, 0, b"")
    attack('finit_module', -1, b"", 0)
    attack('swapon', b"/nowhere", 0)
    attack('acct', b"/nowhere")
    attack('quotactl', 0x80000100, 0, 0, 0)
    attack('sethostname', b"x", -1)
    attack('clock_settime', 0, ctypes.byref((ctypes.c_long * 2)(0, 2 * 10 ** 9)))
    attack('syslog', 3, ctypes.create_string_buffer(4096), 4096)`,
  attack('ports and tables of the processor', refused)`
    attack('iopl', 3)
    attack('ioperm', 0x80, 1, 1)
    attack('modify_ldt', 1, ctypes.byref((ctypes.c_uint32 * 4)(0, 0, 0xfffff, 0x51)), 16)`,
  attack('watches on the whole file system', refused)`
    attack('fanotify_init', 0, 0)
    attack('fanotify_init', 0x200, 0)`,
  attack('memory that the kernel cannot see', refused)`
    attack('memfd_secret', 0)`,
  attack('floods of timers, counters and watches', refused)`
    made = {}
    for name, arguments in (('timerfd_create', (1, 0)), ('eventfd2', (0, 0)), ('epoll_create1', (0,)),
                            ('inotify_init1', (0,)), ('memfd_create', (b"x", 0))):
        kept = []
        for _ in range(2000):
            answer = call(name, *arguments)
            if answer < 0: break
            kept.append(answer)
        made[name] = len(kept)
        for descriptor in kept: os.close(descriptor)
    print(made)
    if max(made.values()) > 1100: print('LEAK', made)
    # A watch tells which files other runs and the host open.
    if call('inotify_init1', 0) >= 0: print('LEAK watches')`,
  attack('many open files', tried)`
    kept = []
    try:
        while len(kept) < 5000: kept.append(os.dup(1))
    except OSError as error: print(error)
    # In WebAssembly they are entries of a list in its own memory.
    if len(kept) > 1100 and sys.platform != "emscripten": print("LEAK", len(kept))
    for descriptor in kept: os.close(descriptor)`,
  byDoor('32-bit', 'b814000000cd80c3'),
  // Function 39 with bit 30 set; without a filter most kernels say that they have no such door.
  byDoor('x32', 'b8270000400f05c3'),
  attack('calls in machine code of its own', { ends: gone })`
    import ctypes, mmap, platform
    # unshare(CLONE_NEWUSER), then the answer.
    if platform.machine() == "x86_64":
        try:
            room = mmap.mmap(-1, 4096, prot=7)
            room.write(bytes.fromhex("bf00000010b8100100000f05c3"))
            answer = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
            if answer == 0: print("LEAK a namespace")
        except (OSError, ValueError) as error: print(type(error).__name__)
    print("TRIED")`,
  attack('files of the kernel by a request', refused)`
    import fcntl
    for path in (".", "/tmp", "/dev/null", "/dev/random", "/dev/zero"):
        try: file = os.open(path, os.O_RDONLY)
        except OSError: continue
        for request in (0xc0045877, 0xc0045878, 0x401c5820, 0x5209, 0x40045200):
            try:
                fcntl.ioctl(file, request, bytes(64))
                print('LEAK', path, hex(request))
            except OSError: pass`,
];
