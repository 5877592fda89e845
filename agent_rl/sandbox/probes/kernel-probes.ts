import type { EscapeProbes } from './escape-probes.ts';

const libc = 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n';

/** Ways past the walls of a process of this machine. Each does no harm where it succeeds. */
export const kernelProbes: EscapeProbes = {
  'os.system': 'import os\nif os.system("echo x > " + WITNESS_FILE) == 0: escaped()',
  subprocess: 'import subprocess\nsubprocess.run(["echo", "x"])\nescaped()',
  fork: 'import os\nif os.fork() == 0: os._exit(0)\nescaped()',
  exec: 'import os\nos.execv("/bin/sh", ["sh", "-c", "echo x > " + WITNESS_FILE])',
  'a secret file': 'if CANARY in open(SECRET_FILE).read(): escaped()',
  'a file of the machine': 'if "root:" in open("/etc/passwd").read(): escaped()',
  'a list of the folders of the machine': 'import os\nif os.listdir("/"): escaped()',
  'a file written outside': 'open(WITNESS_FILE, "w").write("x")',
  'a file cut or lengthened': 'import os\nos.truncate(SECRET_FILE, 1 << 20)\nescaped()',
  'a file emptied by opening it to read':
    'import os\nos.open(SECRET_FILE, os.O_RDONLY | os.O_TRUNC)\nescaped()',
  'a watch of folders': `${libc}if libc.inotify_init() >= 0: escaped()`,
  '/proc': 'if open("/proc/self/environ").read(): escaped()',
  'the trainer listed': 'import os\nif os.listdir("/proc/%d" % TRAINER): escaped()',
  'a signal to the trainer': 'import os\nos.kill(TRAINER, 0)\nescaped()',
  'a signal to the parent process': 'import os\nos.kill(os.getppid() or 1, 0)\nescaped()',
  'tracing the trainer': `${libc}if libc.ptrace(0x4206, TRAINER, 0, 0) == 0: escaped()`,
  'the memory of the trainer': `${libc}buffer = ctypes.create_string_buffer(8)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
here, there = Part(ctypes.addressof(buffer), 8), Part(0x400000, 8)
libc.process_vm_readv(TRAINER, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
if ctypes.get_errno() not in (1, 38): escaped()`,
  TCP: 'import socket\nsocket.create_connection(("127.0.0.1", PORT), 1)\nescaped()',
  'a socket of AF_INET':
    'import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nescaped()',
  'a socket of AF_INET6': 'import socket\nsocket.socket(socket.AF_INET6)\nescaped()',
  'a socket of AF_UNIX': 'import socket\nsocket.socket(socket.AF_UNIX)\nescaped()',
  'a socket of AF_NETLINK':
    'import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\nescaped()',
  'a pair of datagram sockets':
    'import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nescaped()',
  'a namespace': `${libc}if libc.unshare(0x10000000) == 0: escaped()`,
  'a mount': `${libc}if libc.mount(b"x", b"/tmp", b"tmpfs", 0, None) == 0: escaped()`,
  'another root': 'import os\nos.chroot(".")\nescaped()',
  'another user': 'import os\nos.setuid(os.getuid())\nescaped()',
  'a device': 'import os\nos.mknod("device", 0o60600, os.makedev(8, 0))\nescaped()',
  'memory without limit': 'import os\nos.memfd_create("x")\nescaped()',
  'signals by a descriptor': 'import fcntl\nfcntl.fcntl(1, fcntl.F_SETOWN, TRAINER)\nescaped()',
  'a higher limit':
    'import resource\nsoft, hard = resource.getrlimit(resource.RLIMIT_DATA)\nresource.setrlimit(resource.RLIMIT_DATA, (hard + 1, hard + 1))\nescaped()',
  'the limits of others':
    'import resource\nresource.prlimit(TRAINER, resource.RLIMIT_NOFILE)\nescaped()',
  'an inherited descriptor': `import os
for descriptor in range(6, 256):
    try: os.fstat(descriptor)
    except OSError: continue
    escaped()`,
};
