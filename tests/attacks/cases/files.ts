import { type Attack, attack, bait, tried } from '../attack.ts';
import { kernelCalls } from '../kernel-calls.ts';

/** Programs that read or change files of the host. The host searches their output for its secrets. */
export const fileAttacks: readonly Attack[] = [
  attack('files every system has', tried)`
    for path in ("/etc/passwd", "/etc/shadow", "/etc/hosts", "/etc/hostname", "/etc/machine-id", "/root/.bashrc",
                 "/proc/cmdline", "/proc/version", "/proc/1/cmdline", "/sys/class/dmi/id/product_name"):
        try: text = open(path).read()
        except OSError: continue
        if "root:" in text or text and not path.startswith("/etc/pass"): print("LEAK", path, text[:40])`,
  attack('files of the host by their paths', tried)`
    for path in ("${bait.secretFile}", "${bait.hiddenTests}", "${bait.referenceSolution}", "${bait.workFolder}/notes.txt"):
        for way in (path, "/proc/self/root" + path, "/proc/1/root" + path, "/proc/self/cwd/../../../../.." + path,
                    "../" * 20 + path[1:], "/./" + path, "//" + path, "/tmp/.." + path):
            try: print(open(way).read())
            except OSError: pass`,
  attack('a search for files of the host', tried)`
    seen = 0
    for start in ("/tmp", "/var/tmp", "/dev", "/home", "/root", "/srv", "/run", "/proc/self", ".."):
        for folder, names, files in os.walk(start):
            if folder.count("/") > 6: names.clear()
            for name in files:
                seen += 1
                if name in ("secret.txt", "test_hidden.py", "reference_solution.py", "notes.txt"):
                    try: print(open(os.path.join(folder, name)).read())
                    except OSError: pass
    print(seen, "files")`,
  attack('files of this package', tried)`
    for path in ("package.json", "dataset", "dataset/code/eval.jsonl", "agent_rl/sandbox/harness/asserts.py", "dist",
                 "node_modules", ".git/config", "configs"):
        try: print("LEAK", path, str(os.listdir(os.path.join("${bait.packageRoot}", path)))[:60])
        except OSError: pass
        try: print("LEAK", path, open(os.path.join("${bait.packageRoot}", path)).read(60))
        except OSError: pass`,
  attack('writes wherever it can', tried)`
    for place in ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/etc", "/usr", "/usr/lib/python3", "/run", "/root",
                  "/proc/self", os.path.expanduser("~"), "${bait.folder}", "${bait.workFolder}", "${bait.packageRoot}",
                  "${bait.packageRoot}/agent_rl/sandbox/harness"):
        try:
            with open(os.path.join(place, "${bait.marker}"), "w") as file: file.write("x")
            os.mkdir(os.path.join(place, "${bait.marker}.d"))
        except OSError: pass`,
  attack('changes to the tests it is judged by', tried)`
    import shutil
    tests, folder = "${bait.hiddenTests}", "${bait.folder}"
    for change in (
        lambda: open(tests, "w").write("pass"),
        lambda: open(tests, "a").write("pass"),
        lambda: os.truncate(tests, 0),
        lambda: os.chmod(tests, 0),
        lambda: os.utime(tests, (0, 0)),
        lambda: os.chown(tests, 65534, 65534),
        lambda: os.setxattr(tests, "user.x", b"x"),
        lambda: os.rename(tests, tests + ".old"),
        lambda: os.replace(os.path.join(os.getcwd(), "mine"), tests),
        lambda: os.remove(tests),
        lambda: shutil.rmtree(folder),
        lambda: os.mkdir(folder + "/made"),
        lambda: os.mkfifo(folder + "/fifo"),
    ):
        open("mine", "w").close()
        try:
            change()
            print("LEAK changed")
        except Exception as error: print(type(error).__name__)`,
  attack('links of all kinds', tried)`
    def attempt(step):
        try: return step()
        except Exception as error: print(type(error).__name__)
    attempt(lambda: os.symlink("${bait.secretFile}", "soft"))
    attempt(lambda: print(open("soft").read()))
    attempt(lambda: os.symlink("${bait.folder}", "folder"))
    attempt(lambda: open("folder/made", "w").close())
    attempt(lambda: os.link("${bait.secretFile}", "hard"))
    attempt(lambda: print(open("hard").read()))
    attempt(lambda: os.link("soft", "harder", follow_symlinks=True))
    attempt(lambda: print(open("harder").read()))
    attempt(lambda: print(os.listdir("folder")))`,
  attack('links for the cleaner to follow', { ...tried, settleMs: 200 })`
    os.makedirs("a/b/c", exist_ok=True)
    for name, target in (("a/b/evil", "${bait.folder}"), ("tests", "${bait.folder}/tests"), ("file", "${bait.hiddenTests}"), ("loop", "loop")):
        os.symlink(target, name)
    for folder, mode in (("a/b", 0), ("a", 0o111)):
        try: os.chmod(folder, mode)
        except OSError as error: print(error)`,
  attack('a race with the cleaner', { ends: ['ok'], settleMs: 200 })`
    import threading, time
    def swap():
        while True:
            try:
                os.mkdir("race")
                open("race/file", "w").close()
                os.rename("race", "away")
                os.symlink("${bait.folder}", "race")
                os.remove("race")
                os.remove("away/file")
                os.rmdir("away")
            except OSError: pass
    try: threading.Thread(target=swap, daemon=True).start()
    except RuntimeError: raise SystemExit(0)
    time.sleep(0.2)
    os._exit(0)`,
  attack('ways out by open folders', tried)`
    def attempt(step):
        try: return step()
        except Exception as error: print(type(error).__name__)
    here = os.open(".", os.O_RDONLY)
    root = attempt(lambda: os.open("/", getattr(os, "O_PATH", 0)))
    attempt(lambda: os.mkdir("jail"))
    attempt(lambda: os.chroot("jail"))
    attempt(lambda: os.fchdir(here))
    for _ in range(20): attempt(lambda: os.chdir(".."))
    attempt(lambda: os.chroot("."))
    for place in (here, root):
        for path in ("${bait.folder}/secret.txt", "../" * 20 + "${bait.folder}/secret.txt"[1:]):
            if place is None: continue
            attempt(lambda: print(os.read(os.open(path, os.O_RDONLY, dir_fd=place), 100)))
            attempt(lambda: print(os.read(os.open("/proc/self/fd/%d/%s" % (place, path), os.O_RDONLY), 100)))`,
  attack('files by their handles', { ...tried, prefix: kernelCalls })`
    handle = ctypes.create_string_buffer(b"\x80\0\0\0" + bytes(132), 136)
    mount = ctypes.c_int()
    call('name_to_handle_at', -100, b"${bait.secretFile}", handle, ctypes.byref(mount), 0)
    # Inode 2 is the root of most file systems.
    guess = ctypes.create_string_buffer((8).to_bytes(4, "little") + (1).to_bytes(4, "little") + (2).to_bytes(8, "little"), 136)
    for wanted in (handle, guess):
        for place in ("/", ".", "/tmp"):
            try: folder = os.open(place, os.O_RDONLY)
            except OSError: continue
            if call('open_by_handle_at', folder, wanted, os.O_RDONLY) >= 0: print('LEAK by handle')`,
  attack('the environment of the host', tried)`
    print(dict(os.environ))
    for pid in ("self", "1", str(os.getppid())):
        try: print(open("/proc/%s/environ" % pid, "rb").read())
        except OSError: pass`,
  attack('devices', tried)`
    # WebAssembly's terminal is its own standard output.
    terminals = () if sys.platform == "emscripten" else ("/dev/tty", "/dev/ptmx")
    for path in (*terminals, "/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse",
                 "/dev/net/tun", "/dev/loop-control", "/dev/uinput", "/dev/dri/card0"):
        for flags in (os.O_RDONLY, os.O_RDWR):
            try:
                os.open(path, flags)
                print("LEAK opened", path)
            except OSError: pass
    for number in ((254, 0), (1, 1), (8, 0), (10, 232)):
        for kind in (0o020000, 0o060000):
            try:
                os.mknod("device", 0o600 | kind, os.makedev(*number))
                os.open("device", os.O_RDONLY)
                print("LEAK made", number)
            except (OSError, AttributeError): pass`,
  attack('switches of the kernel', tried)`
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/self/oom_score_adj",
                 "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/proc/self/uid_map", "/proc/self/attr/current",
                 "/proc/self/mem", "/sys/fs/cgroup/cgroup.procs"):
        try:
            open(path, "r+b", buffering=0)
            print("LEAK opened for writing", path)
        except OSError: pass`,
  attack('code that is executed from memory', { ...tried, prefix: kernelCalls })`
    # A program that says LEAK in shell, so that it works on every processor.
    file = call('memfd_create', b"x", 0)
    if file >= 0:
        os.write(file, b"#!/bin/sh\necho LEAK by memory\n")
        room = (ctypes.c_char_p * 2)(b"x", None)
        print(call('execveat', file, b"", room, None, 0x1000))
        try: os.execve("/proc/self/fd/%d" % file, ["x"], {})
        except OSError as error: print(error)
        try: os.execve(file, ["x"], {})
        except (OSError, NotImplementedError) as error: print(error)`,
  attack('a program it made executable', tried)`
    with open("program", "w") as file: file.write("#!/bin/sh\necho LEAK by script\n")
    try: os.chmod("program", 0o6755)
    except OSError as error: print(error)
    for run in (lambda: os.execv("./program", ["x"]), lambda: os.system("./program")):
        try: print(run())
        except Exception as error: print(type(error).__name__)`,
  attack('the other end of what is noted of it', tried)`
    for folder in ("/proc/self/fd/", "/dev/fd/"):
        for number in range(3, 16):
            try: end = os.open(folder + str(number), os.O_RDONLY | os.O_NONBLOCK)
            except OSError: continue
            print("LEAK", folder, number)`,
];
