"""System calls that Python's standard library does not offer, by ctypes. Linux only."""

import ctypes
import os
import signal
import struct

from walls.syscall_table import numbers

_libc = ctypes.CDLL(None, use_errno=True)
# Keeps the interpreter's lock, which a raw clone() needs.
_libc_locked = ctypes.PyDLL(None, use_errno=True)
_numbers = numbers()

CLONE_PARENT = 0x8000
NEW_NAMESPACE_MOUNT = 0x20000
NEW_NAMESPACE_CGROUP = 0x2000000
NEW_NAMESPACE_UTS = 0x4000000
NEW_NAMESPACE_IPC = 0x8000000
NEW_NAMESPACE_USER = 0x10000000
NEW_NAMESPACE_PID = 0x20000000
NEW_NAMESPACE_NET = 0x40000000

MOUNT_READ_ONLY, MOUNT_NO_SUID, MOUNT_NO_DEV, MOUNT_NO_EXEC = 1, 2, 4, 8
MOUNT_REMOUNT, MOUNT_BIND, MOUNT_RECURSIVE, MOUNT_PRIVATE = 32, 4096, 16384, 1 << 18
DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
_SECCOMP_MODE_FILTER = 2
_ASK, _FIXED_ADDRESSES = 0xFFFFFFFF, 0x0040000
_CAPABILITY_VERSION_3 = 0x20080522


def _checked(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, '%s: %s' % (what, os.strerror(number)))
    return result


def syscall(name, *arguments):
    """The raw system call. Raises OSError."""
    return _checked(_libc.syscall(_numbers[name], *arguments), name)


def control_process(option, value=0, *rest):
    """prctl(2). Raises OSError."""
    values = [ctypes.c_ulong(part) for part in (value, *rest, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *values), 'prctl(%d)' % option)


def die_with_parent(by=signal.SIGKILL):
    """The kernel sends this process a signal when its parent ends. A change of user undoes it."""
    control_process(PR_SET_PDEATHSIG, by)


def mount(source, target, kind=None, *, flags, data=None):
    """mount(2). Raises OSError."""
    encoded = [text.encode() if text is not None else None for text in (source, target, kind, data)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _checked(result, 'mount %s on %s' % (source or kind, target))


def enter_root(folder):
    """Makes `folder`, a mount point, the root and lets go of the old one. Raises OSError."""
    os.chdir(folder)
    syscall('pivot_root', b'.', b'.')
    _checked(_libc.umount2(b'.', DETACH), 'umount2')
    os.chdir('/')


def unshare(flags):
    """unshare(2). Raises OSError."""
    _checked(_libc.unshare(ctypes.c_int(flags)), 'unshare')


def clone(flags):
    """fork() by flags of clone(2), such as new namespaces; 0 in the child. Raises OSError.

    The interpreter's hooks of fork are left out: they put in order what other threads held, and the caller has none.
    The child may do little but fork again, by `os.fork`, which runs them.
    """
    pid = _libc_locked.syscall(_numbers['clone'], ctypes.c_ulong(flags | signal.SIGCHLD), 0, 0, 0, 0)
    return _checked(pid, 'clone')


def fix_addresses():
    """From the next exec on, memory lies at the same addresses in every process. True when it did already.

    Raises OSError where a container forbids it.
    """
    present = _checked(_libc.personality(ctypes.c_ulong(_ASK)), 'personality')
    if present & _FIXED_ADDRESSES:
        return True
    _checked(_libc.personality(ctypes.c_ulong(present | _FIXED_ADDRESSES)), 'personality')
    return False


def close_descriptors(first, last=0xFFFFFFFF):
    """Closes every descriptor from `first` to `last`, those inherited unawares included."""
    if first > last:
        return
    try:
        syscall('close_range', ctypes.c_uint(first), ctypes.c_uint(last), 0)
    except OSError:
        # Kernels before 5.9 have no such call.
        os.closerange(first, min(last, os.sysconf('SC_OPEN_MAX')) + 1)


def drop_bounding_set():
    """No program started from here on can gain a capability. Raises OSError."""
    try:
        with open('/proc/sys/kernel/cap_last_cap') as file:
            last = int(file.read())
    except OSError:
        last = 40
    for capability in range(last + 1):
        control_process(PR_CAPBSET_DROP, capability)


def drop_capabilities():
    """Raises OSError."""
    header = struct.pack('Ii', _CAPABILITY_VERSION_3, 0)
    syscall('capset', header, bytes(24))


class _FilterProgram(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('instructions', ctypes.c_void_p)]


def install_filter(instructions):
    """Installs a seccomp filter, eight bytes per instruction, for good. Raises OSError."""
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _FilterProgram(len(instructions) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    control_process(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
