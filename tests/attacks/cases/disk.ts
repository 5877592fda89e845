import type { Attack } from '../attack.ts';
import { python } from '../python.ts';

const tried = { ends: ['ok'], says: 'TRIED' } as const;
const full = [
  'ok',
  'error',
  'disk_limit',
  'file_limit',
  'timeout',
  'signaled',
  'memory_limit',
] as const;

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

/** Programs that fill the disk, or leave on it what is hard to remove. */
export const diskAttacks: readonly Attack[] = [
  {
    name: 'a full disk',
    code: python`
      total = 0
      try:
          for number in range(400):
              with open("f%d" % number, "wb") as file:
                  for _ in range(8): total += file.write(bytes(1 << 20))
      finally:
          if total > 200 << 20: print("LEAK", total >> 20, "MiB")`,
    ends: full,
    alone: true,
  },
  {
    name: 'one large file',
    code: python`
      total = 0
      try:
          with open("f", "wb") as file:
              while total < 1 << 30: total += file.write(bytes(1 << 20))
      finally:
          if total > 200 << 20: print("LEAK", total >> 20, "MiB")`,
    ends: full,
    alone: true,
  },
  {
    name: 'a full disk that ignores its limit',
    code: python`
      import os
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
    ends: full,
    alone: true,
  },
  {
    name: 'a full disk without names',
    code: python`
      import os
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
    ends: full,
    alone: true,
  },
  {
    name: 'a full disk in folders too deep to be named',
    code: `${staying}${python`
      for _ in range(20):
          os.mkdir("d" * 250)
          os.chdir("d" * 250)
      fill("f")`}`,
    ends: full,
    alone: true,
    settleMs: 200,
  },
  {
    name: 'a full disk in a folder that cannot be listed',
    code: `${staying}${python`
      os.mkdir("d", 0o300)
      fill("d/f")`}`,
    ends: full,
    alone: true,
    settleMs: 200,
  },
  {
    name: 'a file of a tebibyte with nothing in it',
    code: python`
      import os
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
    ends: [...full, 'crashed'],
  },
  {
    name: 'a hundred thousand empty files',
    code: python`
      made = 0
      try:
          for number in range(100000):
              open("f%d" % number, "wb").close()
              made += 1
      finally:
          if made > 20000: print("LEAK", made, "files")`,
    ends: full,
    alone: true,
  },
  {
    name: 'ten thousand folders in one another',
    code: python`
      import os
      try:
          for _ in range(10000):
              os.mkdir("d")
              os.chdir("d")
      except OSError as error: print(error)`,
    ends: full,
    settleMs: 200,
  },
  {
    name: 'names that are hard to remove',
    code: python`
      import os
      names = [b"a\nb", b"-rf", b"*", b" ", b"\xff\xfe", b"x" * 255, b"\x1b[2J", b"..." , "\u202e".encode(), b"'; rm -rf \"$HOME\""]
      for name in names:
          try:
              os.mkdir(name)
              open(os.path.join(name, name), "wb").close()
              os.chmod(name, 0)
          except OSError as error: print(error)
      for make in (lambda: os.mkfifo("fifo"), lambda: __import__("socket").socket(1).bind("socket")):
          try: make()
          except Exception as error: print(type(error).__name__)
      print("TRIED")`,
    ...tried,
    settleMs: 200,
  },
  {
    name: 'files that must not be removed',
    code: python`
      import os
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
      except OSError as error: print(error)
      print("TRIED")`,
    ends: ['ok', 'error'],
    says: 'TRIED',
    settleMs: 200,
  },
];
