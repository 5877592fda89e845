import { type Attack, attack, bait, tried } from '../attack.ts';
import { kernelCalls } from '../kernel-calls.ts';

const bounded = ['ok', 'error', 'memory_limit', 'timeout', 'signaled', 'crashed'] as const;
const broken = ['error', 'signaled', 'crashed', 'memory_limit'] as const;
const filled = [...bounded, 'disk_limit', 'file_limit'] as const;
const multiplied = ['error', 'memory_limit', 'timeout', 'signaled'] as const;
const brokenOrLate = [...broken, 'timeout'] as const;

/**
 * Stores what a loop wants to store and tells how much that was. A backend may allow 128 MiB of address space beyond
 * the limit of 256 MiB of data.
 */
const tally = `
stored, kept = 0, []
def told(what):
    print(what, stored >> 20, 'MiB')
    if stored > 384 << 20: print('LEAK', stored >> 20, 'MiB of', what)
`.trimStart();

const counted = { ends: bounded, alone: true, prefix: tally } as const;
const goesOn = { ends: ['ok'], says: 'went on', alone: true } as const;
const wanting = { ends: ['ok', 'error', 'memory_limit'], says: 'MemoryError' } as const;

/** Programs that try to use all memory. They stop on their own at about 2 GiB. */
export const memoryAttacks: readonly Attack[] = [
  attack('a list that grows forever', { ends: ['memory_limit'], alone: true })`
    kept = []
    while True: kept.append(bytearray(20 << 20))`,
  attack('a program that goes on without the memory it wanted', goesOn)`
    kept = []
    try:
        for _ in range(200): kept.append(bytearray(b"a" * (10 << 20)))
    except MemoryError: pass
    print("LEAK" if len(kept) > 70 else "", len(kept), "pieces")
    kept = None
    print("went on")`,
  attack('many small objects', { ends: ['memory_limit', 'timeout'], alone: true })`
    kept = {}
    while len(kept) < 10 ** 8: kept[len(kept)] = str(len(kept))
    print("LEAK")`,
  attack('memory by forks', { ends: bounded, alone: true })`
    import time
    for _ in range(8):
        try:
            if os.fork() == 0:
                kept = b"a" * (240 << 20)
                time.sleep(1)
                os._exit(0)
        except (OSError, MemoryError) as error:
            print(error)
            break
    time.sleep(1)`,
  attack('files in memory', counted)`
    try:
        while stored < 2 << 30:
            kept.append(os.memfd_create("x"))
            for _ in range(16): stored += os.write(kept[-1], bytes(1 << 20))
    except Exception as error: print(type(error).__name__, error)
    told("files in memory")`,
  attack('full pipes', counted)`
    import fcntl, socket
    def fill(descriptor):
        global stored
        os.set_blocking(descriptor, False)
        try:
            while True: stored += os.write(descriptor, bytes(65536))
        except BlockingIOError: pass
    try:
        while stored < 2 << 30:
            reading, writing = os.pipe()
            kept.append(reading)
            try: fcntl.fcntl(writing, 1031, 1 << 20)
            except OSError: pass
            fill(writing)
            left, right = socket.socketpair()
            kept += [left, right]
            fill(left.fileno())
    except Exception as error: print(type(error).__name__, error)
    told("pipes")`,
  attack('one pipe without a reader', counted)`
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while stored < 512 << 20: stored += os.write(writing, bytes(1 << 20))
    except OSError as error: print(error)
    if stored > 2 << 20: print("LEAK one pipe")
    told("a pipe")`,
  attack('sockets with large buffers, and what is on its way in them', counted)`
    import array, socket
    def fill(sending):
        global stored
        sending.setblocking(False)
        for option in (socket.SO_SNDBUF, 32, socket.SO_RCVBUF, 33):
            try: sending.setsockopt(socket.SOL_SOCKET, option, 1 << 28)
            except OSError: pass
        try:
            while True: stored += sending.send(bytes(1 << 20))
        except OSError: pass
        try:
            while True: stored += sending.send(b"x" * 4096, socket.MSG_OOB)
        except OSError: pass
    try:
        carrier = socket.socketpair()
        while stored < 2 << 30:
            pair = socket.socketpair()
            fill(pair[0])
            fill(pair[1])
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [each.fileno() for each in pair]))]
            try: carrier[0].sendmsg([b"x"], rights)
            except (OSError, AttributeError): kept.append(pair)
    except Exception as error: print(type(error).__name__, error)
    if stored > 64 << 20: print("LEAK", stored >> 20, "MiB in sockets")
    told("sockets")`,
  attack('a file cut to a gigabyte and filled', { ...counted, ends: filled })`
    piece = b"x" * (1 << 20)
    try:
        with open("cut", "wb", buffering=0) as file:
            file.truncate(1 << 30)
            while stored < 1 << 30: stored += file.write(piece)
    except OSError as error: print(error)
    told("a file")`,
  attack('shared memory of System V', { ...counted, prefix: kernelCalls + tally })`
    ids = []
    while stored < 2 << 30:
        made = call('shmget', 0, 256 << 20, 0o1600)
        if made < 0: break
        ids.append(made)
        place = call('shmat', made, 0, 0)
        if place < 0: break
        ctypes.memset(place, 1, 256 << 20)
        stored += 256 << 20
    for made in ids:
        print('LEAK a segment that outlives its program')
        call('shmctl', made, 0, 0)
    told("shared memory")`,
  attack('queues and semaphores of System V and POSIX', { ...tried, prefix: kernelCalls })`
    for name, arguments in (('msgget', (0, 0o1600)), ('semget', (0, 250, 0o1600))):
        made = attack(name, *arguments)
        if made >= 0: call({'msgget': 'msgctl', 'semget': 'semctl'}[name], made, 0, 0)
    if attack('mq_open', b"${bait.marker}", 0o102, 0o600, 0) >= 0: call('mq_unlink', b"${bait.marker}")`,
  attack('shared mappings', counted)`
    import mmap
    try:
        while stored < 2 << 30:
            kept.append(mmap.mmap(-1, 32 << 20))
            for page in range(0, 32 << 20, 4096): kept[-1][page] = 1
            stored += 32 << 20
    except Exception as error: print(type(error).__name__, error)
    told("mappings")`,
  attack('memory asked of the C library', counted)`
    import ctypes
    try: libc = ctypes.CDLL(None)
    except OSError: libc = ctypes.pythonapi
    libc.malloc.restype = ctypes.c_void_p
    while stored < 2 << 30:
        place = libc.malloc(ctypes.c_size_t(16 << 20))
        if not place: break
        ctypes.memset(place, 1, 16 << 20)
        stored += 16 << 20
    told("memory of the C library")`,
  attack('memory locked in place', { ...tried, prefix: kernelCalls })`
    attack('mlockall', 3, refusals=(errno.ENOMEM,))`,
  attack('pages lent to pipes', { ...tried, prefix: `${kernelCalls}${tally}` })`
    class Piece(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
    try:
        for _ in range(400):
            reading, writing = os.pipe()
            room = ctypes.create_string_buffer(1 << 16)
            piece = Piece(ctypes.addressof(room), 1 << 16)
            if call('vmsplice', writing, ctypes.byref(piece), 1, 8) > 0:
                copy = os.pipe()
                call('tee', reading, copy[1], 1 << 16, 0)
                call('splice', reading, 0, copy[1], 0, 1 << 16, 0)
                kept += [reading, *copy]
    except OSError as error: print(error)
    if len(kept) > 900: print('LEAK', len(kept), 'pipes')`,
  attack('large stacks', { ...tried, ends: ['ok', 'error', 'memory_limit'] })`
    import threading, time
    try:
        threading.stack_size(1 << 30)
        def dig(depth): return depth and dig(depth - 1)
        for _ in range(4): threading.Thread(target=dig, args=(900,)).start()
    except (RuntimeError, MemoryError, ValueError) as error: print(error)`,
  attack('a bracket in a bracket, again and again', { ends: broken })`
    eval(compile("(" * 100000 + ")" * 100000, "x", "eval"))`,
  attack('constants that the compiler multiplies', { ends: multiplied })`
    x = ((1,) * 10 ** 9, "a" * 10 ** 10)
    print(len(x))`,
  attack('endless recursion', { ends: ['error'], says: 'RecursionError' })`
    def f(): f()
    f()`,
  attack('recursion without a limit', { ends: brokenOrLate, alone: true })`
    sys.setrecursionlimit(10 ** 9)
    def f(n): return f(n + 1) + 1
    f(0)`,
  attack('recursion through the C library', { ends: brokenOrLate })`
    sys.setrecursionlimit(10 ** 9)
    nested = []
    for _ in range(10 ** 6): nested = [nested]
    repr(nested)`,
  attack('an exit function that wants memory', wanting)`
    import atexit
    atexit.register(lambda: [bytearray(20 << 20) for _ in range(100)])`,
  attack('an answer from a small archive', counted)`
    import io, zipfile, zlib
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in range(4): archive.writestr(str(part), bytes(20 << 20))
    bomb = packed.getvalue()
    try:
        while stored < 2 << 30:
            for name in "0123":
                kept.append(zipfile.ZipFile(io.BytesIO(bomb)).read(name))
                stored += len(kept[-1])
    except MemoryError as error: print("MemoryError")
    told("unpacked archives")`,
];
