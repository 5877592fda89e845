import type { EscapeProbe } from './escape-probes.ts';

const probe = (name: string, code: string): EscapeProbe => ({ name, code });

const libc = 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n';

/** Ways past the walls of a process of this machine. Each does no harm where it succeeds. */
export const kernelProbes: readonly EscapeProbe[] = [
  probe('os.system', 'import os\nif os.system("echo x > " + WITNESS_FILE) == 0: escaped()'),
  probe('subprocess', 'import subprocess\nsubprocess.run(["echo", "x"])\nescaped()'),
  probe('fork', 'import os\nif os.fork() == 0: os._exit(0)\nescaped()'),
  probe('exec', 'import os\nos.execv("/bin/sh", ["sh", "-c", "echo x > " + WITNESS_FILE])'),
  probe('a secret file', 'if CANARY in open(SECRET_FILE).read(): escaped()'),
  probe('a file of the machine', 'if "root:" in open("/etc/passwd").read(): escaped()'),
  probe('a list of its folders', 'import os\nif os.listdir("/"): escaped()'),
  probe('a file written outside', 'open(WITNESS_FILE, "w").write("x")'),
  probe('a file cut', 'import os\nos.truncate(SECRET_FILE, 1 << 20)\nescaped()'),
  probe(
    'a file emptied by reading',
    'import os\nos.open(SECRET_FILE, os.O_RDONLY | os.O_TRUNC)\nescaped()',
  ),
  probe('a watch of folders', `${libc}if libc.inotify_init() >= 0: escaped()`),
  probe('/proc', 'if open("/proc/self/environ").read(): escaped()'),
  probe('the trainer listed', 'import os\nif os.listdir("/proc/%d" % TRAINER): escaped()'),
  probe('a signal to the trainer', 'import os\nos.kill(TRAINER, 0)\nescaped()'),
  probe('a signal to its parent', 'import os\nos.kill(os.getppid() or 1, 0)\nescaped()'),
  probe('tracing the trainer', `${libc}if libc.ptrace(0x4206, TRAINER, 0, 0) == 0: escaped()`),
  probe(
    'the memory of the trainer',
    `${libc}buffer = ctypes.create_string_buffer(8)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
here, there = Part(ctypes.addressof(buffer), 8), Part(0x400000, 8)
libc.process_vm_readv(TRAINER, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
if ctypes.get_errno() not in (1, 38): escaped()`,
  ),
  probe('TCP', 'import socket\nsocket.create_connection(("127.0.0.1", PORT), 1)\nescaped()'),
  ...['AF_INET, socket.SOCK_DGRAM', 'AF_INET6', 'AF_UNIX', 'AF_NETLINK, socket.SOCK_RAW'].map(
    (kind) =>
      probe(
        `a socket of ${kind.split(',')[0]}`,
        `import socket\nsocket.socket(socket.${kind})\nescaped()`,
      ),
  ),
  probe(
    'a pair of datagram sockets',
    'import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nescaped()',
  ),
  probe('a namespace', `${libc}if libc.unshare(0x10000000) == 0: escaped()`),
  probe('a mount', `${libc}if libc.mount(b"x", b"/tmp", b"tmpfs", 0, None) == 0: escaped()`),
  probe('another root', 'import os\nos.chroot(".")\nescaped()'),
  probe('another user', 'import os\nos.setuid(os.getuid())\nescaped()'),
  probe('a device', 'import os\nos.mknod("device", 0o60600, os.makedev(8, 0))\nescaped()'),
  probe('memory without limit', 'import os\nos.memfd_create("x")\nescaped()'),
  probe(
    'signals by a descriptor',
    'import fcntl\nfcntl.fcntl(1, fcntl.F_SETOWN, TRAINER)\nescaped()',
  ),
  probe(
    'a higher limit',
    'import resource\nsoft, hard = resource.getrlimit(resource.RLIMIT_DATA)\nresource.setrlimit(resource.RLIMIT_DATA, (hard + 1, hard + 1))\nescaped()',
  ),
  probe(
    'the limits of others',
    'import resource\nresource.prlimit(TRAINER, resource.RLIMIT_NOFILE)\nescaped()',
  ),
  probe(
    'an inherited descriptor',
    `import os
for descriptor in range(6, 256):
    try: os.fstat(descriptor)
    except OSError: continue
    escaped()`,
  ),
];
