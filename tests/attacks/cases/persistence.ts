import { type Attack, type Bystander, type Program, attack, bait, tried } from '../attack.ts';
import { findSecrets } from '../find-secrets.ts';
import type { Bait } from '../host/bait.ts';
import { python } from '../python.ts';

/** A program that keeps secrets in its code, input, file and output for a while, and does not use its neighbour's. */
const innocent = ({ secrets, marker }: Bait): string => python`
  import time
  held = input()
  with open("innocent-${marker}.txt", "w") as file: file.write("${secrets.code}")
  text = "${secrets.code}"
  for _ in range(12): time.sleep(0.1)
  with open("innocent-${marker}.txt") as file: assert file.read() == text
  print("${secrets.output}", held == "${secrets.stdin}")`;

const neighbour: Bystander = {
  code: innocent,
  stdin: ({ secrets }) => `${secrets.stdin}\n`,
  prints: ({ secrets }) => `${secrets.output} True\n`,
};

const victimOfLeak = {
  code: ({ secrets }: Bait) => python`
    # ${secrets.code}
    held = input()
    print("${secrets.output}", len(held), "x" * 5000)`,
  stdin: ({ secrets }: Bait) => `${secrets.stdin}\n`,
};

const ended = { ends: ['ok'], says: 'TRIED' } as const;
/** The one program before an attack. */
const first = (code: Program, stdin = ''): NonNullable<Attack['before']> => [{ code, stdin }];

const knownSecrets = ({ secrets }: Bait): string => findSecrets({ ...secrets });

const leftovers = ({ marker }: Bait): string => python`
  import builtins, gc, json, os, signal, sys, threading
  for place in (".", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), "/dev", "/home", "/"):
      try: names = os.listdir(place)
      except OSError: names = []
      for name in names:
          if "${marker}" in name or name.startswith("planted"): print("LEAK a file", place, name)
  if hasattr(builtins, "planted") or hasattr(json, "planted"): print("LEAK an attribute")
  if "PLANTED" in os.environ: print("LEAK a variable")
  if "planted" in sys.modules or any("planted" in str(place) for place in sys.path): print("LEAK a module")
  if json.dumps([1]) != "[1]" or len([1, 2]) != 2: print("LEAK a patch")
  if sys.getrecursionlimit() == 4321: print("LEAK a limit of recursion")
  if threading.active_count() > 1: print("LEAK a thread")
  if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN: print("LEAK a signal handler")
  if os.umask(0o22) == 0o55: print("LEAK a umask")
  if gc.get_threshold()[0] == 9: print("LEAK a threshold")
  try: print("LEAK a descriptor", os.fstat(77))
  except OSError: pass
  if sys.stdin.read(): print("LEAK an input")
  print("TRIED")`;

/** Programs that leave something for the next, or look for what others left. */
export const persistenceAttacks: readonly Attack[] = [
  {
    name: 'what the program before it left',
    before: first(
      ({ marker }) => python`
          import atexit, builtins, gc, json, os, signal, sys, threading
          def attempt(step):
              try: step()
              except Exception as error: print(type(error).__name__)
          for place in (".", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), "/dev", "/home", "/"):
              attempt(lambda: open(os.path.join(place, "planted-${marker}"), "w").close())
              attempt(lambda: os.mkdir(os.path.join(place, "planted-${marker}.d")))
          builtins.planted = json.planted = 1
          sys.modules["planted"] = json
          sys.path.insert(0, "/tmp/planted")
          os.environ["PLANTED"] = "1"
          sys.setrecursionlimit(4321)
          gc.set_threshold(9)
          attempt(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
          attempt(lambda: os.umask(0o55))
          attempt(lambda: os.dup2(1, 77))
          attempt(lambda: threading.Thread(target=lambda: os.read(os.pipe()[0], 1), daemon=True).start())
          json.dumps = lambda *_: "patched"
          builtins.len = lambda _: 7
          atexit.register(os.chdir, "/")`,
      'unread',
    ),
    code: leftovers,
    ...ended,
  },
  {
    name: 'a library that the program before it poisoned',
    before: first(
      ({ marker }) => python`
          import colorsys, os, sys
          places = {os.path.dirname(os.__file__), *sys.path, "/usr/lib/python3/dist-packages", os.path.expanduser("~/.local")}
          for place in places:
              for name in ("planted_${marker}.py", "planted_${marker}.pth", "__pycache__/planted_${marker}.cpython-311.pyc"):
                  try: open(os.path.join(place or ".", name), "w").write("import sys; sys.poisoned = 1")
                  except Exception: pass
          colorsys.rgb_to_hsv = lambda *_: "LEAK patched"`,
    ),
    code: ({ marker }) => python`
      import colorsys, importlib, os, sys
      for place in {os.path.dirname(os.__file__), *sys.path, "/usr/lib/python3/dist-packages"}:
          try: names = [name for name in os.listdir(place or ".") if "planted" in name]
          except OSError: continue
          for name in names:
              print("LEAK", place, name)
              os.remove(os.path.join(place or ".", name))
      try: importlib.import_module("planted_${marker}")
      except ImportError: pass
      if hasattr(sys, "poisoned"): print("LEAK poisoned")
      print(colorsys.rgb_to_hsv(1, 0, 0))`,
    ends: ['ok'],
    says: '(0.0, 1.0, 1',
  },
  {
    name: 'randomness that the program before it chose',
    before: first(
      'import random, string\nrandom.seed = lambda *_: None\nrandom.random = lambda: 0.25\nstring.digits = "9"',
    ),
    code: 'import random, string\nprint("LEAK" if random.random() == 0.25 or string.digits == "9" else "fresh")',
    ends: ['ok'],
    says: 'fresh',
  },
  {
    name: 'an asynchronous task that the program before it left',
    before: first(python`
          import asyncio
          async def later():
              while True:
                  await asyncio.sleep(0.05)
                  print("LEAK from the program before", flush=True)
          loop = asyncio.new_event_loop()
          task = loop.create_task(later())
          try: loop.run_until_complete(asyncio.sleep(0.01))
          except BaseException as error: print(type(error).__name__)`),
    code: 'import time\ntime.sleep(0.3)\nprint("alone")',
    ends: ['ok'],
    says: 'alone',
  },
  {
    name: 'files that the program before it gave names of object properties',
    before: first(
      ({ secrets }) => python`
          import os
          for name in ("__proto__", "constructor", "toString"):
              for place in (".", "/tmp", "/home", "/"):
                  try: open(os.path.join(place, name), "w").write("${secrets.code}")
                  except OSError: pass
                  try:
                      os.mkdir(os.path.join(place, name + ".d"))
                      open(os.path.join(place, name + ".d", name), "w").write("${secrets.code}")
                  except OSError: pass`,
    ),
    code: python`
      import os
      for name in ("__proto__", "constructor", "toString"):
          for place in (".", "/tmp", "/home", "/"):
              for path in (os.path.join(place, name), os.path.join(place, name + ".d", name)):
                  try: print("LEAK", path, open(path).read())
                  except OSError: pass
              if os.path.lexists(os.path.join(place, name + ".d")): print("LEAK a folder", place, name)
      print("TRIED")`,
    ...ended,
  },
  {
    name: 'flags that the program before it gave the standard streams',
    before: first(python`
          import fcntl, os
          for descriptor in range(3):
              for flags in (os.O_WRONLY, 0x7fffffff):
                  try: fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
                  except OSError as error: print(error)
          try: os.lseek(0, 3, 0)
          except OSError as error: print(error)`),
    code: python`
      import fcntl, os
      for descriptor in range(3):
          if fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK): print("LEAK flags", descriptor)
      print("read", input())`,
    stdin: 'all of it\n',
    ends: ['ok'],
    says: 'read all of it',
  },
  {
    name: 'names of hosts and pipes that the program before it used',
    before: first(
      ({ secrets }) => python`
          import os, socket
          for lookup in (socket.gethostbyname, lambda name: socket.getaddrinfo(name, 80)):
              try: print(lookup("${secrets.code}"))
              except OSError as error: print(type(error).__name__)
          print(os.pipe())`,
    ),
    code: ({ secrets }) => python`
      import socket
      for high in range(4):
          for low in range(4):
              try: seen = repr(socket.gethostbyaddr("172.29.%d.%d" % (high, low)))
              except OSError: continue
              if "${secrets.code}" in seen: print("LEAK", seen)
      print("TRIED")`,
    ...ended,
  },
  {
    name: 'memory of the programs before it',
    before: Array.from({ length: 4 }, () => victimOfLeak),
    code: (given) =>
      `${knownSecrets(given)}${python`
      pieces = 0
      for piece in memory():
          pieces += len(piece)
          look(piece, 'in memory')
      print("TRIED", pieces > 1 << 20)`}`,
    limits: { wallS: 15, memoryMiB: 384 },
    ...ended,
    says: 'TRIED True',
  },
  {
    name: 'objects of those around it',
    code: (given) =>
      `${knownSecrets(given)}${python`
      frame, depth = sys._getframe(), 0
      while frame:
          depth += 1
          look(repr(frame.f_locals).encode(), 'in a frame')
          look(repr(list(frame.f_globals)).encode(), 'in a frame')
          if any(name in frame.f_locals for name in ("expected", "tests", "hidden")): print('LEAK a frame', list(frame.f_locals))
          frame = frame.f_back
      for item in gc.get_objects():
          if isinstance(item, dict) and len(item) < 2000 and ("expected_output" in item or "hidden_tests" in item):
              if item is not globals(): print('LEAK a dictionary', list(item)[:9])
      print("TRIED")`}`,
    ...ended,
  },
  {
    name: 'the secret of the host in memory',
    code: (given) =>
      `${knownSecrets(given)}${python`
      for piece in memory(): look(piece, 'in memory')
      print("TRIED")`}`,
    limits: { wallS: 15, memoryMiB: 384 },
    ...ended,
  },
  attack('files of the program beside it', { ...tried, beside: neighbour })`
    import time
    starts = ["/tmp", "/var/tmp", "/dev/shm", "/run", "..", "../..", os.path.dirname(os.getcwd())]
    end = time.time() + 0.7
    while time.time() < end:
        for start in starts:
            for folder, names, files in os.walk(start):
                if folder.count("/") > 5: names.clear()
                for name in files:
                    path = os.path.join(folder, name)
                    if name in ("main.py", "stdin"):
                        try: print(open(path).read())
                        except OSError: pass
                    if name == "innocent-${bait.marker}.txt":
                        try: print(open(path).read())
                        except OSError: pass
                        for harm in (lambda: open(path, "w").close(), lambda: os.remove(path)):
                            if os.path.abspath(path) != os.path.abspath(name):
                                try: harm()
                                except OSError: pass
        time.sleep(0.05)`,
  attack('guesses at the working folder of the program beside it', { ...tried, beside: neighbour })`
    import re, time
    here = os.getcwd()
    guesses = {here}
    for number in re.findall(r"\d+", here):
        for step in range(-30, 30): guesses.add(here.replace(number, str(int(number) + step)))
    for _ in range(5):
        for guess in guesses - {here}:
            try: print("LEAK", guess, os.listdir(guess), open(guess + "/innocent-${bait.marker}.txt").read())
            except OSError: pass
        time.sleep(0.1)`,
  attack('signals to the program beside it', { beside: neighbour, ends: ['ok', 'signaled'] })`
    import signal
    own = os.getpid()
    for pid in [*range(own - 40, own + 40), *range(2, 40)]:
        if pid in (own, os.getppid()) or pid < 2: continue
        for number in (signal.SIGUSR1, signal.SIGALRM):
            try:
                os.kill(pid, number)
                print("sent", pid)
            except OSError: pass
    print("TRIED")`,
  attack('processes beside it', { ...tried, beside: neighbour })`
    own = {"self", "thread-self", str(os.getpid())}
    try: names = os.listdir("/proc")
    except OSError: names = []
    for name in [*names, *map(str, range(os.getpid() - 9, os.getpid() + 9))]:
        if name in own or not name.isdigit(): continue
        for part in ("cmdline", "environ", "maps", "mem", "cwd/innocent-${bait.marker}.txt", "root/etc/passwd", "fd/0"):
            try: print("LEAK", name, part, open("/proc/%s/%s" % (name, part), "rb").read(80))
            except OSError: pass`,
];
