import { type Attack, attack, tried } from '../attack.ts';

const limits = ['disk_limit', 'file_limit', 'timeout', 'memory_limit'] as const;
const full = ['ok', 'error', 'signaled', ...limits] as const;

/** Writes much and stays: a folder that is only watched may hold too much for a moment, and not for half a second. */
const staying = `
import os, time
def fill(name):
    total = 0
    try:
        for number in range(12):
            with open(name + str(number), "wb") as file:
                for _ in range(10): total += file.write(bytes(1 << 20))
    except OSError as error: print(error)
    time.sleep(0.5)
    if total > 64 << 20: print("LEAK", total >> 20, "MiB")
`.trimStart();

const hidden = { ends: full, alone: true, settleMs: 200, prefix: staying };

/** Programs that fill the disk, or leave on it what is hard to remove. */
export const diskAttacks: readonly Attack[] = [
  attack('a full disk', { ends: full, alone: true })`
    total = 0
    try:
        for number in range(400):
            with open("f%d" % number, "wb") as file:
                for _ in range(8): total += file.write(bytes(1 << 20))
    finally:
        if total > 200 << 20: print("LEAK", total >> 20, "MiB")`,
  attack('one large file', { ends: full, alone: true })`
    total = 0
    try:
        with open("f", "wb") as file:
            while total < 1 << 30: total += file.write(bytes(1 << 20))
    finally:
        if total > 200 << 20: print("LEAK", total >> 20, "MiB")`,
  attack('a full disk that ignores its limit', { ends: full, alone: true })`
    try:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    except (ImportError, AttributeError): pass
    total, number = 0, 0
    while total < 1 << 30 and number < 3000:
        number += 1
        try:
            file = os.open("f%d" % number, os.O_WRONLY | os.O_CREAT)
            for _ in range(16): total += os.write(file, bytes(1 << 20))
            os.close(file)
        except OSError: pass
    if total > 200 << 20: print("LEAK", total >> 20, "MiB")`,
  attack('a full disk without names', { ends: full, alone: true })`
    try:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    except (ImportError, AttributeError): pass
    total, kept, failed = 0, [], 0
    while total < 1 << 30 and failed < 3:
        try:
            kept.append(os.open("f", os.O_RDWR | os.O_CREAT))
            os.remove("f")
        except OSError: failed += 1
        try:
            for _ in range(40): total += os.write(kept[-1], bytes(1 << 20))
        except OSError: pass
    print(total >> 20, "MiB")
    if total > 448 << 20: print("LEAK", total >> 20, "MiB")`,
  attack('a full disk in folders too deep to be named', hidden)`
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    fill("f")`,
  attack('a full disk in a folder that cannot be listed', hidden)`
    os.mkdir("d", 0o300)
    fill("d/f")`,
  attack('a file of a tebibyte with nothing in it', { ends: [...full, 'crashed'] })`
    for make in (
        lambda file: os.truncate(file.name, 1 << 40),
        lambda file: os.posix_fallocate(file.fileno(), 0, 1 << 40),
        lambda file: (file.seek(1 << 40), file.write(b"x"), file.flush()),
    ):
        try:
            with open("sparse", "wb") as file: make(file)
            size = os.stat("sparse")
            print(size.st_size, getattr(size, "st_blocks", 0))
        except Exception as error: print(type(error).__name__)`,
  attack('a hundred thousand empty files', { ends: full, alone: true })`
    made = 0
    try:
        for number in range(100000):
            open("f%d" % number, "wb").close()
            made += 1
    finally:
        if made > 20000: print("LEAK", made, "files")`,
  attack('ten thousand folders in one another', { ends: full, settleMs: 200 })`
    try:
        for _ in range(10000):
            os.mkdir("d")
            os.chdir("d")
    except OSError as error: print(error)`,
  attack('names that are hard to remove', { ...tried, settleMs: 200 })`
    names = [b"a\nb", b"-rf", b"*", b" ", b"\xff\xfe", b"x" * 255, b"\x1b[2J", b"..." , "\u202e".encode(), b"'; rm -rf \"$HOME\""]
    for name in names:
        try:
            os.mkdir(name)
            open(os.path.join(name, name), "wb").close()
            os.chmod(name, 0)
        except OSError as error: print(error)
    for make in (lambda: os.mkfifo("fifo"), lambda: __import__("socket").socket(1).bind("socket")):
        try: make()
        except Exception as error: print(type(error).__name__)`,
  attack('files that must not be removed', { ...tried, ends: ['ok', 'error'], settleMs: 200 })`
    try:
        import array, fcntl
        file = os.open("kept", os.O_RDWR | os.O_CREAT)
        for flag in (0x10, 0x20):
            try: fcntl.ioctl(file, 0x40086602, array.array("l", [flag]))
            except OSError as error: print(error)
        for command, value in ((1024, 1), (1026, 0x8000003f), (1033, 15)):
            try: fcntl.fcntl(file, command, value)
            except OSError as error: print(error)
        fcntl.flock(file, fcntl.LOCK_EX)
    except ImportError: pass
    try: os.chmod(".", 0)
    except OSError as error: print(error)`,
];
